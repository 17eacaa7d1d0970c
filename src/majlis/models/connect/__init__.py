"""Connects models in the app: which providers there are, what they offer, whether a key works, and what is saved."""
