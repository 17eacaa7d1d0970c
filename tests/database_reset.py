"""Resets a PostgreSQL database after a test. This is much faster than another copy of the template."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg

from majlis.store.tables import metadata

_TABLES = [table.name for table in metadata.sorted_tables]

# Everything except the rows of our tables. A change leaves a newer row, or fewer rows, in one of these.
_CATALOGUES = (
    "alembic_version", "pg_attribute", "pg_class", "pg_constraint", "pg_db_role_setting", "pg_index", "pg_proc",
    "pg_statistic", "pg_trigger",
)  # fmt: skip
_SHAPE = " UNION ALL ".join(
    f"SELECT '{name}' AS name, count(*) AS rows, max(xmin::text::bigint) AS newest FROM {name}" for name in _CATALOGUES
)

# PostgreSQL plans for a table without statistics as if it had at least ten pages. Up to that size, dead rows of earlier
# tests change no plan.
_PAGES = 10
_LARGEST = """
    SELECT max(pg_relation_size(oid)) / current_setting('block_size')::int FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"""

_THROW_OUT = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()"""
_EMPTY = ";".join(
    [f"DELETE FROM {name}" for name in reversed(_TABLES)]
    + ["SELECT setval(seqrelid, seqstart, false) FROM pg_sequence"]
)


@dataclass(frozen=True)
class Template:
    """A new database: its catalogues, and the rows that migrations insert."""

    shape: list[asyncpg.Record]
    rows: dict[str, str]


async def read_template(url: str) -> Template:
    async with _connected(url) as connection:
        found = {name: await connection.fetchval(f"SELECT json_agg({name}) FROM {name}") for name in _TABLES}
        return Template(await connection.fetch(_SHAPE), {name: rows for name, rows in found.items() if rows})


async def reset(url: str, template: Template) -> bool:
    """Disconnects all clients and empties the tables. False if the schema has changed or a table has grown."""
    async with _connected(url) as connection:
        await connection.execute(_THROW_OUT)
        if await connection.fetch(_SHAPE) != template.shape or await connection.fetchval(_LARGEST) > _PAGES:
            return False
        await connection.execute(_EMPTY)
        for name, rows in template.rows.items():
            await connection.execute(
                f"INSERT INTO {name} SELECT * FROM json_populate_recordset(NULL::{name}, $1)", rows
            )
        return True


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()
