"""Asks: questions that programs put to the members of a space (D5)."""
