"""Spaces, their members, what is said in them, how far everyone has read, and search."""
