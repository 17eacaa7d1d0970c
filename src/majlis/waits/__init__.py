"""Waits: a run that pauses for an answer, and how that ends."""
