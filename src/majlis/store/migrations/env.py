"""Alembic's entry point. Uses the connection of `majlis.store.migrate`."""

from alembic import context

from majlis.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table="alembic_version",
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
