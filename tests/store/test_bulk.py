"""Many rows at once: every value arrives as it was given, in order, on both databases."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import sqlalchemy as sa

from majlis.store.bulk import insert_rows
from majlis.store.open import open_database
from majlis.store.tables.columns import Json
from majlis.store.transactions import Database, Tx

# What COPY writes in another way, or could take for its own marks.
TEXTS = [
    *("\\N", "\\.", "\\", "\\\\N", "a\tb", "\n", "\r\n", "\\n", "\\t", "\\x00", "\\u0000", "\\000", "NULL", "", " "),
    *(
        "'",
        '"',
        "$1",
        "%s",
        "?",
        ":name",
        "{}",
        "\x01\x1f\x7f",
        "\u2028",
        "\ufeff",
        "\ufffe",
        "a\u0301",
        "🙂👩‍👩‍👧",
        "كلمة",
    ),
    *("x" * 200_000, "\\\t\n" * 50_000),
]
_things = sa.table(
    "things",
    sa.column("id", sa.Integer),
    sa.column("Order", sa.Text),
    sa.column("data", Json),
    sa.column("yes", sa.Boolean),
    sa.column("usd", sa.Double),
    sa.column("later", sa.Text),
)
_NAMES = ("Order", "data", "yes", "usd")


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    opened = open_database(database_url)
    key = "bigserial" if opened.dialect == "postgresql" else "integer"
    columns = f'id {key} PRIMARY KEY, "Order" text UNIQUE, data json, yes boolean, usd double precision'
    create = sa.text(f"CREATE TABLE things ({columns}, later text DEFAULT 'as always')")
    await opened.write(lambda tx: tx.execute(create))
    yield opened
    await opened.close()


async def stored(db: Database) -> list[tuple[Any, ...]]:
    return [tuple(row)[1:] for row in await db.read(Tx.all, sa.select(_things).order_by(_things.c.id))]


async def test_texts_and_json_arrive_as_they_were_given(db: Database) -> None:
    rows = [(text, {"text": text, text: [text, None]}, True, 0.1) for text in TEXTS]
    await db.write(insert_rows, _things, _NAMES, rows)
    assert await stored(db) == [(*row, "as always") for row in rows]


async def test_rows_keep_their_order_and_nothing_is_null(db: Database) -> None:
    """With more rows than one statement has, and a number of rows that does not fill the last statement."""
    rows: list[tuple[Any, ...]] = [(str(n), [n], n % 2 == 0, float(n)) for n in range(1234)]
    rows[7] = (None, None, None, None)
    await db.write(insert_rows, _things, _NAMES, rows)
    assert await stored(db) == [(*row, "as always") for row in rows]
    await db.write(insert_rows, _things, _NAMES, [])
    assert len(await stored(db)) == len(rows)


async def test_a_row_that_the_database_rejects_is_an_error_and_its_savepoint_undoes_all(db: Database) -> None:
    async def insert(*texts: Any) -> str:
        def work(tx: Tx) -> str:
            insert_rows(tx, _things, ["Order"], [("before",)])
            try:
                with tx.savepoint():
                    insert_rows(tx, _things, ["Order"], [(text,) for text in texts])
            except sa.exc.DBAPIError as error:
                insert_rows(tx, _things, ["Order"], [("after",)])
                return type(error).__name__
            return "none"

        found = await db.write(work)
        assert [row[0] for row in await stored(db)] == ["before", "after"]
        await db.write(Tx.execute, sa.delete(_things))
        return found

    many = [str(n) for n in range(99)]
    assert await insert(*many, "same", *many, "same") == "IntegrityError"
    if db.dialect == "postgresql":
        assert await insert(*many, "a\0b") == "DataError"
        assert await insert(*many, "a\ud800") == "DataError"
