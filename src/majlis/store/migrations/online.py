"""Changes of large tables while other nodes use them. Call these before anything else in `upgrade()`.

On PostgreSQL each call commits by itself, because an index cannot be built in a transaction without blocking writes. A
migration that is interrupted runs again from its start, so each call can be repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from alembic import op


def add_index(name: str, table: str, columns: list[str], *, where: str | None = None, unique: bool = False) -> None:
    condition = None if where is None else sa.text(where)
    if _is_sqlite():
        op.create_index(name, table, columns, unique=unique, sqlite_where=condition, if_not_exists=True)
        return
    with _outside_a_transaction(), _patience():
        if _is_invalid(name):
            op.drop_index(name, table, postgresql_concurrently=True)
        op.create_index(
            name,
            table,
            columns,
            unique=unique,
            postgresql_where=condition,
            postgresql_concurrently=True,
            if_not_exists=True,
        )


def drop_index(name: str, table: str) -> None:
    if _is_sqlite():
        op.drop_index(name, table, if_exists=True)
        return
    with _outside_a_transaction(), _patience():
        op.drop_index(name, table, postgresql_concurrently=True, if_exists=True)


def allow_values(table: str, column: str, *values: str) -> None:
    """Replaces the values that a column with `one_of` accepts. All stored values must be among them."""
    name = f"ck_{table}_{column}"
    listed = ", ".join(f"'{value}'" for value in values)
    check = f"CONSTRAINT {name} CHECK ({column} IN ({listed}))"
    if _is_sqlite():
        _rewrite_check(table, name, check)
        return
    with _outside_a_transaction():
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}, ADD {check} NOT VALID")
        op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}")


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"


@contextmanager
def _outside_a_transaction() -> Iterator[None]:
    """This commits what came before it, which a second try could not repeat. So nothing may have come before."""
    if op.get_bind().execute(sa.text("SELECT pg_current_xact_id_if_assigned() IS NOT NULL")).scalar_one():
        raise RuntimeError("Online changes come first in a migration, or in a migration of their own.")
    with op.get_context().autocommit_block():
        yield


@contextmanager
def _patience() -> Iterator[None]:
    """Concurrent builds block no query, but wait for every older transaction."""
    usual = op.get_bind().execute(sa.text("SHOW lock_timeout")).scalar_one()
    op.execute("SET lock_timeout = 0")
    try:
        yield
    finally:
        op.execute(f"SET lock_timeout = '{usual}'")


def _is_invalid(index: str) -> bool:
    """An interrupted build leaves an index that costs writes and serves no reads."""
    invalid = sa.text("SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(:name) AND NOT indisvalid")
    return op.get_bind().execute(invalid, {"name": index}).scalar() is not None


def _rewrite_check(table: str, name: str, check: str) -> None:
    """SQLite cannot alter a constraint. Its documentation allows this for changes that keep the stored rows valid."""
    bind = op.get_bind()
    of_table = sa.text("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = :table")
    before: str = bind.execute(of_table, {"table": table}).scalar_one()
    after, found = re.subn(rf"CONSTRAINT {name} CHECK \(\w+ IN \([^)]*\)\)", lambda _: check, before)
    if found != 1:
        raise RuntimeError(f"Table {table} has no constraint {name} that lists values.")
    version = bind.execute(sa.text("PRAGMA schema_version")).scalar_one()
    bind.execute(sa.text("PRAGMA writable_schema = ON"))
    changed = sa.text("UPDATE sqlite_master SET sql = :sql WHERE type = 'table' AND name = :table")
    bind.execute(changed, {"sql": after, "table": table})
    # A new version makes every connection, this one too, read the schema again.
    bind.execute(sa.text(f"PRAGMA schema_version = {version + 1}"))
    bind.execute(sa.text("PRAGMA writable_schema = OFF"))
