"""Runs the statements of hot paths directly on the driver.

Executing a statement through SQLAlchemy costs about 40 µs, on SQLite several times the statement itself. A statement
marked `hot` is compiled once by SQLAlchemy, with its type conversions, and then run on the driver's cursor. While
something listens to SQLAlchemy's events, as tests that count statements do, it goes through SQLAlchemy; so the same
tests cover both ways.
"""

from __future__ import annotations

import re
import sqlite3
from collections import namedtuple
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy.sql.compiler import SQLCompiler

from majlis.store.tables.columns import metadata

S = TypeVar("S", bound=sa.Executable)
Process = Callable[[Any], Any]
_MARK = "_majlis_hot"
_WORD = re.compile(r"\w+")


def hot(statement: S) -> S:
    """For statements that are built once and have bound parameters, but no list parameters."""
    setattr(statement, _MARK, (id(statement), {}))
    return statement


class Driver(Protocol):
    """Runs a statement once, or once per row of parameters. Raises SQLAlchemy's errors."""

    def run(self, text: str, given: list[list[Any]], has_rows: bool) -> tuple[Sequence[Any], int]: ...


def prepare(conn: sa.Connection, statement: Any, parameters: Any) -> Prepared | None:
    """None for a statement that is not marked, or while something listens to SQLAlchemy's events."""
    marked: tuple[int, dict[Any, Prepared | None]] | None = statement.__dict__.get(_MARK)
    # A statement derived from a marked one copies its attributes, but is not marked itself.
    if marked is None or marked[0] != id(statement) or _has_listeners(conn):
        return None
    prepared = marked[1]
    first = (parameters[0] if isinstance(parameters, list) else parameters) or {}
    key = (conn.dialect.name, *first)
    if key not in prepared:
        prepared[key] = _prepare(conn, statement, list(first))
    return prepared[key]


def _has_listeners(conn: sa.Connection) -> bool:
    return (conn._has_events or conn.engine._has_events) and bool(conn.dispatch.before_cursor_execute)


@dataclass(slots=True, eq=False)
class HotResult:
    """The part of SQLAlchemy's result that we use."""

    _rows: list[Any]
    rowcount: int

    def all(self) -> Sequence[Any]:
        return self._rows

    def one(self) -> Any:
        if len(self._rows) != 1:
            raise sa.exc.NoResultFound if not self._rows else sa.exc.MultipleResultsFound
        return self._rows[0]

    def one_or_none(self) -> Any:
        return self.one() if self._rows else None

    def scalar_one(self) -> Any:
        return self.one()[0]

    def scalar_one_or_none(self) -> Any:
        return self.one()[0] if self._rows else None


def _prepare(conn: sa.Connection, statement: Any, keys: list[str]) -> Prepared | None:
    compiled = statement.compile(dialect=conn.dialect, column_keys=keys or None)
    assert isinstance(compiled, SQLCompiler)
    # The text of a statement with a list parameter depends on the list's length.
    return None if compiled.post_compile_params else Prepared(conn, compiled, statement)


class Prepared:
    """A statement of one dialect, with the conversions of its parameters and rows."""

    def __init__(self, conn: sa.Connection, compiled: SQLCompiler, statement: Any) -> None:
        self.text = str(compiled)
        self.is_select: bool = statement.is_select
        # The table that it writes.
        self.target: str | None = statement.table.name if statement.is_dml else None
        # All it may touch: every word of the text that is a table's name.
        self.tables = metadata.tables.keys() & set(_WORD.findall(self.text))
        processors = cast("dict[str, Process]", compiled._bind_processors)
        constants = compiled.params
        self._binds = [(name, processors.get(name), constants.get(name)) for name in compiled.positiontup or ()]
        columns = compiled._result_columns
        out = (column.type._cached_result_processor(conn.dialect, None) for column in columns)
        self._out = [(index, convert) for index, convert in enumerate(out) if convert is not None]
        self._row = _row_class([column.name for column in columns]) if columns else None

    @property
    def has_rows(self) -> bool:
        return self._row is not None

    def run(self, driver: Driver, parameters: Any) -> HotResult:
        given = parameters if isinstance(parameters, list) else [parameters or {}]
        rows, count = driver.run(self.text, [self.bound(each) for each in given], self.has_rows)
        return HotResult([self._made(row) for row in rows], count)

    def bound(self, given: dict[str, Any]) -> list[Any]:
        bound = []
        for name, process, constant in self._binds:
            value = given.get(name, constant)
            bound.append(process(value) if process is not None else value)
        return bound

    def _made(self, row: Sequence[Any]) -> Any:
        assert self._row is not None
        if not self._out:
            return self._row._make(row)
        values = list(row)
        for index, convert in self._out:
            # All our types convert NULL to None.
            if values[index] is not None:
                values[index] = convert(values[index])
        return self._row._make(values)


def _row_class(names: list[str]) -> Any:
    class Row(namedtuple("Columns", names, rename=True)):  # type: ignore[misc]
        __slots__ = ()

        @property
        def _mapping(self) -> dict[str, Any]:
            return self._asdict()

    return Row


@dataclass(slots=True, eq=False)
class SqliteDriver:
    _raw: sqlite3.Connection

    def run(self, text: str, given: list[list[Any]], has_rows: bool) -> tuple[Sequence[Any], int]:
        try:
            cursor = self._raw.execute(text, given[0]) if len(given) == 1 else self._raw.executemany(text, given)
            return _fetch_all(cursor) if has_rows else (), cursor.rowcount
        except sqlite3.IntegrityError as error:
            raise sa.exc.IntegrityError(text, None, error) from error
        except sqlite3.DatabaseError as error:
            raise sa.exc.DBAPIError.instance(text, None, error, sqlite3.Error) from error


def _fetch_all(cursor: sqlite3.Cursor) -> list[Any]:
    try:
        return cursor.fetchall()
    except sqlite3.Error:
        # An unreadable row (R9) leaves the statement open, and with it an old snapshot: every later write on this
        # connection would fail as locked.
        cursor.close()
        raise


@dataclass(slots=True, eq=False)
class PostgresDriver:
    """Uses SQLAlchemy's cursor over asyncpg, which begins the transaction, prepares a statement once per connection and
    translates errors."""

    _conn: sa.Connection

    def run(self, text: str, given: list[list[Any]], has_rows: bool) -> tuple[Sequence[Any], int]:
        conn = self._conn
        dialect: Any = conn.dialect
        cursor: Any = conn.connection.cursor()
        # Makes the cursor prepare statements again that were prepared before a schema change.
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
