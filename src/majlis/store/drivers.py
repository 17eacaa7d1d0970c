"""The two drivers as hot statements use them, below SQLAlchemy."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa


class SqliteDriver:
    __slots__ = ("_raw",)

    def __init__(self, raw: sqlite3.Connection) -> None:
        self._raw = raw

    def run(self, text: str, given: list[list[Any]], has_rows: bool) -> tuple[Sequence[Any], int]:
        try:
            cursor = self._raw.execute(text, given[0]) if len(given) == 1 else self._raw.executemany(text, given)
            return _all_of(cursor) if has_rows else (), cursor.rowcount
        except sqlite3.IntegrityError as error:
            raise sa.exc.IntegrityError(text, None, error) from error
        except sqlite3.DatabaseError as error:
            raise sa.exc.DBAPIError.instance(text, None, error, sqlite3.Error) from error


def _all_of(cursor: sqlite3.Cursor) -> list[Any]:
    try:
        return cursor.fetchall()
    except sqlite3.Error:
        # A row that cannot be read (R9) leaves the statement open, and with it a view of the database that is soon too
        # old to write on: every later write of this connection would find it locked.
        cursor.close()
        raise


class PostgresDriver:
    """SQLAlchemy's cursor over asyncpg, without what SQLAlchemy does around it. It begins the transaction, prepares a
    statement once for each connection, and translates errors; a connection that broke is given up as usual."""

    __slots__ = ("_conn",)

    def __init__(self, conn: sa.Connection) -> None:
        self._conn = conn

    def run(self, text: str, given: list[list[Any]], has_rows: bool) -> tuple[Sequence[Any], int]:
        conn = self._conn
        dialect: Any = conn.dialect
        cursor: Any = conn.connection.cursor()
        # Statements prepared before a table was changed are prepared again.
        cursor._invalidate_schema_cache_asof = dialect._invalidate_schema_cache_asof
        try:
            if len(given) == 1:
                cursor.execute(text, given[0])
            else:
                cursor.executemany(text, given)
            return cursor.fetchall() if has_rows else (), cursor.rowcount
        except BaseException as error:
            if isinstance(error, dialect.dbapi.InvalidCachedStatementError):
                dialect._invalidate_schema_cache()
            conn._handle_dbapi_exception(error, text, None, cursor, None)
