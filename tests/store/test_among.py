"""Lists as one parameter: `among` and `not_among` find what `IN` finds, go the short way, and use indexes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import sqlalchemy as sa

from majlis.store.hot import HotResult, among, hot, not_among
from majlis.store.open import open_database
from majlis.store.transactions import Database, Tx

_things = sa.table("things", sa.column("id", sa.Text))
_WITH = hot(sa.select(_things.c.id).where(among(_things.c.id, "ids")).order_by(_things.c.id))
_WITHOUT = hot(sa.select(_things.c.id).where(not_among(_things.c.id, "ids")).order_by(_things.c.id))
_EITHER = hot(
    sa.select(_things.c.id)
    .where(sa.or_(_things.c.id == "a", sa.and_(not_among(_things.c.id, "ids"), _things.c.id > "b")))
    .order_by(_things.c.id)
)
_ODD = 'it\'s ["c"], ü 😀 \\'


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    opened = open_database(database_url)

    def fill(tx: Tx) -> None:
        tx.execute(sa.text("CREATE TABLE things (id text PRIMARY KEY)"))
        tx.execute(sa.insert(_things), [{"id": each} for each in ("a", "b", "c", _ODD)])

    await opened.write(fill)
    yield opened
    await opened.close()


@pytest.mark.parametrize(
    ("given", "inside"), [([], []), (["a"], ["a"]), ([_ODD, "none"], [_ODD]), (("c", "b", "b"), ["b", "c"])]
)
async def test_a_list_of_any_length_is_one_parameter(db: Database, given: Any, inside: list[str]) -> None:
    def found(tx: Tx, statement: Any) -> list[str]:
        result = tx.execute(statement, {"ids": given})
        assert isinstance(result, HotResult)
        return [row.id for row in result.all()]

    everything = ["a", "b", "c", _ODD]
    assert sorted(await db.read(found, _WITH)) == sorted(inside)
    assert sorted(await db.read(found, _WITHOUT)) == sorted(set(everything) - set(inside))
    rest = {each for each in everything if each > "b" and each not in inside}
    assert set(await db.read(found, _EITHER)) == {"a"} | rest


async def test_sqlite_looks_up_each_value_in_the_index(db: Database) -> None:
    if db.dialect != "sqlite":
        pytest.skip("PostgreSQL scans a small table")
    text = str(_WITH.compile(dialect=db.engine.dialect))
    plan = await db.read(
        lambda tx: [row.detail for row in tx.conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", ("[]",))]
    )
    assert any(line.startswith("SEARCH things USING COVERING INDEX") for line in plan), plan
