"""Inserts many rows at a fraction of the cost of `Tx.execute`: with COPY on PostgreSQL, with few statements on SQLite.

After each statement SQLite writes what was added to the full-text index, which costs more than the row itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.util import await_only

from majlis.store.hot import dump_json
from majlis.store.transactions import Tx

Rows = Sequence[Sequence[Any]]

_ROWS_PER_STATEMENT = 50


def insert_rows(tx: Tx, table: sa.TableClause, names: Sequence[str], rows: Rows) -> None:
    """In this order, with the values of the columns `names`. Raises SQLAlchemy's errors; some rows may be inserted
    then, so it needs a savepoint."""
    conn = tx.conn
    quote = conn.dialect.identifier_preparer.quote
    into = f"{quote(table.name)} ({', '.join(map(quote, names))})"
    json = [at for at, name in enumerate(names) if isinstance(table.c[name].type, sa.JSON)]
    rows = _with_json_as_text(rows, json) if json else rows
    raw = conn.connection.driver_connection
    if tx.dialect == "sqlite":
        _insert(cast(sqlite3.Connection, raw), into, rows)
    else:
        await_only(_copy(raw, into, rows))


def _with_json_as_text(rows: Rows, columns: list[int]) -> Rows:
    """Most rows have none."""
    pick = itemgetter(*columns)
    nothing = pick([None] * (columns[-1] + 1))
    return [row if pick(row) == nothing else _dumped(row, columns) for row in rows]


def _dumped(row: Sequence[Any], columns: list[int]) -> Sequence[Any]:
    values = list(row)
    for at in columns:
        if values[at] is not None:
            values[at] = dump_json(values[at])
    return values


def _insert(raw: sqlite3.Connection, into: str, rows: Rows) -> None:
    for start in range(0, len(rows), _ROWS_PER_STATEMENT):
        some = rows[start : start + _ROWS_PER_STATEMENT]
        text = _insert_text(into, len(some[0]), len(some))
        try:
            raw.execute(text, [value for row in some for value in row])
        except sqlite3.Error as error:
            raise sa.exc.DBAPIError.instance(text, None, error, sqlite3.Error) from error


@lru_cache(maxsize=128)
def _insert_text(into: str, columns: int, rows: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return f"INSERT INTO {into} VALUES {', '.join([row] * rows)}"


async def _copy(raw: Any, into: str, rows: Rows) -> None:
    # Imported here, so that users of SQLite do not wait for it.
    import psycopg

    text = f"COPY {into} FROM STDIN"
    try:
        async with raw.cursor() as cursor, cursor.copy(text) as copy:
            for row in rows:
                await copy.write_row(row)
    except UnicodeEncodeError as error:
        raise sa.exc.DataError(text, None, psycopg.DataError("a text has a lone surrogate")) from error
    except psycopg.Error as error:
        raise sa.exc.DBAPIError.instance(
            text, None, error, psycopg.Error, hide_parameters=True, connection_invalidated=raw.broken
        ) from error
