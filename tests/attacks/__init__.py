"""Attacks that worked once. Each file runs one idea against a real gateway and expects it to fail."""
