"""The steps that lead from an empty database to this program's data model."""

# Oldest first. Known without importing Alembic, so that starting on an up-to-date database costs one query.
REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007")
