"""Migrations of the data model."""

# Oldest first. Listed here so that starting with an up-to-date database needs no import of Alembic.
REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007")
