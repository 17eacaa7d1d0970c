"""A row that cannot be read leaves no statement open: the next write works."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Iterator

import pytest
import sqlalchemy as sa

from majlis.spaces.damaged_rows import Unreadable, reading
from majlis.store.hot import hot
from majlis.store.open import open_database
from majlis.store.tables import gateway
from majlis.store.transactions import Database, Tx
from tests.databases import SqliteDatabases

_ALL = sa.select(gateway.c.key, gateway.c.value)
_BROKEN = sa.text("INSERT INTO gateway (key, value) VALUES ('a', CAST(x'ff00fe' AS TEXT)), ('b', 'whole')")


@pytest.fixture
async def db(sqlite_databases: SqliteDatabases) -> AsyncIterator[Database]:
    """PostgreSQL does not store such a row."""
    opened = open_database(sqlite_databases.fresh())
    yield opened
    await opened.close()


@pytest.fixture(autouse=True)
def no_tidying_up() -> Iterator[None]:
    """Without garbage collection, which in a server may come late."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("statement", [hot(sa.select(gateway.c.key, gateway.c.value)), _ALL], ids=["hot", "usual"])
async def test_r9_a_statement_that_meets_a_damaged_row_is_over(db: Database, statement: sa.Select[tuple[str]]) -> None:
    """It used to keep its snapshot open, and everything on that connection was locked."""
    kept: list[Exception] = []

    def look(tx: Tx) -> None:
        try:
            with reading():
                tx.all(statement)
        except Unreadable as error:
            # As a logger does, or a reference cycle.
            kept.append(error)

    await db.write(lambda tx: tx.execute(_BROKEN))
    for n in range(3):
        await db.write(look)
        await db.read(look)
        # The next write uses another connection, so an old snapshot could not be upgraded.
        await db.write_brief(put, f"c{n}")
        await db.write(put, f"d{n}")
    assert len(kept) == 6


def put(tx: Tx, key: str) -> None:
    tx.execute(gateway.insert(), {"key": key, "value": "x"})
