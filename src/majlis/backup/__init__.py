"""Backups of a whole gateway in one file, made while it runs."""
