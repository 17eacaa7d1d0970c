"""Runs the statements of hot paths directly on the driver.

Executing a statement through SQLAlchemy costs about 40 µs, on SQLite several times the statement itself. A statement
marked `hot` is compiled once by SQLAlchemy, with its type conversions, and then run on the driver's cursor. While
something listens to SQLAlchemy's events, as tests that count statements do, it goes through SQLAlchemy; so the same
tests cover both ways.
"""

from __future__ import annotations

import sqlite3
from collections import namedtuple
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import Any, Protocol, TypeVar, cast

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

S = TypeVar("S", bound=sa.Executable)
Process = Callable[[Any], Any]
# A named tuple.
Row = Any
_MARK = "_majlis_hot"
# PostgreSQL's code of the type. SQLAlchemy asks for it only for columns with floating-point numbers.
_DOUBLE_PRECISION = 701


def hot(statement: S) -> S:
    """For statements that are built once and have bound parameters, but no list parameters."""
    setattr(statement, _MARK, (id(statement), {}))
    return statement


def among(column: sa.ColumnElement[str], name: str) -> sa.ColumnElement[bool]:
    """True if the parameter `name`, a list of texts, has the value. Unlike with `IN (…)`, the statement's text does not
    depend on the length of the list: it can be hot, and is prepared once."""
    return _Among(column, sa.bindparam(name, type_=_Texts()))


def not_among(column: sa.ColumnElement[str], name: str) -> sa.ColumnElement[bool]:
    return _NotAmong(column, sa.bindparam(name, type_=_Texts()))


class _Texts(sa.types.TypeDecorator[Collection[str]]):
    """A list of texts as one parameter: an array, or JSON on SQLite."""

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        return dialect.type_descriptor(postgresql.ARRAY(sa.Text()) if dialect.name == "postgresql" else sa.Text())

    def process_bind_param(self, value: Collection[str] | None, dialect: sa.Dialect) -> Any:
        texts = list(value or ())
        return texts if dialect.name == "postgresql" else orjson.dumps(texts).decode()


class _Among(FunctionElement[bool]):
    name = "among"
    type = sa.Boolean()
    inherit_cache = True

    def self_group(self, against: Any = None) -> Any:
        """Omits `= 1`, which SQLAlchemy adds on SQLite and which would prevent the use of an index."""
        return self


class _NotAmong(_Among):
    name = "not_among"
    inherit_cache = True


@compiles(_Among, "sqlite")
def _among_in_sqlite(element: _Among, compiler: Any, **options: Any) -> str:
    column, texts = (compiler.process(each, **options) for each in element.clauses)
    return f"{column} {'NOT ' if isinstance(element, _NotAmong) else ''}IN (SELECT value FROM json_each({texts}))"


@compiles(_Among, "postgresql")
def _among_in_postgresql(element: _Among, compiler: Any, **options: Any) -> str:
    column, texts = (compiler.process(each, **options) for each in element.clauses)
    return f"{column} <> ALL ({texts})" if isinstance(element, _NotAmong) else f"{column} = ANY ({texts})"


class Driver(Protocol):
    """Runs prepared statements, once for each row of parameters. Raises SQLAlchemy's errors."""

    def run(self, prepared: Prepared, rows: list[Sequence[Any]]) -> HotResult: ...

    def later(self, prepared: Prepared, rows: list[Sequence[Any]], checked: bool) -> bool:
        """False if no row was changed, as far as that is known."""
        ...

    def ask(self, prepared: Prepared, values: Sequence[Any]) -> HotResult: ...

    def give_way(self) -> None:
        """Called before a statement that goes through SQLAlchemy."""
        ...


def prepare(conn: sa.Connection, statement: Any, parameters: Any) -> Prepared | None:
    """None for a statement that is not marked, or while something listens to SQLAlchemy's events."""
    marked: tuple[int, dict[Any, Prepared | None]] | None = statement.__dict__.get(_MARK)
    # A statement derived from a marked one copies its attributes, but is not marked itself.
    if marked is None or marked[0] != id(statement) or _has_listeners(conn):
        return None
    prepared = marked[1]
    first = (parameters[0] if isinstance(parameters, list) else parameters) or {}
    key = (conn.dialect.name, *first)
    try:
        return prepared[key]
    except KeyError:
        found = prepared[key] = _prepare(conn, statement, list(first))
        return found


def _has_listeners(conn: sa.Connection) -> bool:
    return (conn._has_events or conn.engine._has_events) and bool(conn.dispatch.before_cursor_execute)


class HotResult:
    """The part of SQLAlchemy's result that we use."""

    __slots__ = ("_rows", "rowcount")

    def __init__(self, rows: Sequence[Row], rowcount: int) -> None:
        self._rows = rows
        self.rowcount = rowcount

    def all(self) -> Sequence[Row]:
        return self._rows

    def one(self) -> Row:
        rows = self.all()
        if len(rows) != 1:
            raise sa.exc.NoResultFound if not rows else sa.exc.MultipleResultsFound
        return rows[0]

    def one_or_none(self) -> Row:
        return self.one() if self.all() else None

    def scalar_one(self) -> Any:
        return self.one()[0]

    def scalar_one_or_none(self) -> Any:
        rows = self.all()
        return self.one()[0] if rows else None


def _prepare(conn: sa.Connection, statement: Any, keys: list[str]) -> Prepared | None:
    dialect = conn.dialect if conn.dialect.name == "sqlite" else _numbered_postgres()
    compiled = statement.compile(dialect=dialect, column_keys=keys or None)
    assert isinstance(compiled, SQLCompiler)
    # The text of a statement with such parameters, for example a list, depends on their values.
    return (
        None if compiled.post_compile_params or compiled.literal_execute_params else Prepared(dialect, compiled, keys)
    )


@cache
def _numbered_postgres() -> sa.Dialect:
    """A dialect whose parameters are `$1`, `$2`, as libpq has them. Only statements are compiled with it."""
    from sqlalchemy.dialects.postgresql.asyncpg import dialect

    made: sa.Dialect = dialect(json_serializer=dump_json)  # type: ignore[no-untyped-call]
    return made


class Prepared:
    """A statement of one dialect, with the conversions of its parameters and rows."""

    def __init__(self, dialect: sa.Dialect, compiled: SQLCompiler, keys: Collection[str]) -> None:
        self.text = str(compiled)
        names = list(compiled.positiontup or ())
        processors = cast("dict[str, Process]", compiled._bind_processors)
        self._processed = [(index, processors[name]) for index, name in enumerate(names) if name in processors]
        self._constants = {name: compiled.params.get(name) for name in names if name not in keys}
        self._pick = _picker(names)
        columns = compiled._result_columns
        out = (column.type._cached_result_processor(dialect, _DOUBLE_PRECISION) for column in columns)
        self._out = [(index, convert) for index, convert in enumerate(out) if convert is not None]
        self._row = _row_class([column.name for column in columns]) if columns else None
        # None for a statement without rows.
        self.make_row: Callable[[Sequence[Any]], Row] | None = None
        if self._row is not None:
            self.make_row = self._converted if self._out else self._row._make

    def bound(self, given: dict[str, Any]) -> Sequence[Any]:
        picked = self._pick(self._constants | given if self._constants else given)
        if not self._processed:
            return picked
        bound = list(picked)
        for index, process in self._processed:
            bound[index] = process(bound[index])
        return bound

    def _converted(self, row: Sequence[Any]) -> Row:
        values = list(row)
        for index, convert in self._out:
            # All our types convert NULL to None.
            if values[index] is not None:
                values[index] = convert(values[index])
        return cast(Any, self._row)._make(values)


def _picker(names: list[str]) -> Callable[[dict[str, Any]], Sequence[Any]]:
    """The values of these keys, in this order."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda given: [given[name] for name in names]


def _row_class(names: list[str]) -> Any:
    class Row(namedtuple("Columns", names, rename=True)):  # type: ignore[misc]
        __slots__ = ()

        @property
        def _mapping(self) -> dict[str, Any]:
            return self._asdict()

    return Row


@dataclass(slots=True, eq=False)
class SqliteDriver:
    """Runs each statement at once, since there are no round trips."""

    _raw: sqlite3.Connection

    def run(self, prepared: Prepared, rows: list[Sequence[Any]]) -> HotResult:
        text, make_row = prepared.text, prepared.make_row
        try:
            cursor = self._raw.execute(text, rows[0]) if len(rows) == 1 else self._raw.executemany(text, rows)
            if make_row is None:
                return HotResult((), cursor.rowcount)
            return HotResult([make_row(row) for row in _fetch_all(cursor)], cursor.rowcount)
        except sqlite3.IntegrityError as error:
            raise sa.exc.IntegrityError(text, None, error) from error
        except sqlite3.DatabaseError as error:
            raise sa.exc.DBAPIError.instance(text, None, error, sqlite3.Error) from error

    def later(self, prepared: Prepared, rows: list[Sequence[Any]], checked: bool) -> bool:
        return self.run(prepared, rows).rowcount != 0

    def ask(self, prepared: Prepared, values: Sequence[Any]) -> HotResult:
        return _Asked(self, prepared, values)

    def give_way(self) -> None:
        """Does nothing: no statement waits."""


class _Asked(HotResult):
    """Runs when its rows are looked at, so that a damaged row is an error of its reader (R9), as on PostgreSQL."""

    __slots__ = ("_driver", "_prepared", "_values")

    def __init__(self, driver: SqliteDriver, prepared: Prepared, values: Sequence[Any]) -> None:
        super().__init__((), -1)
        self._driver = driver
        self._prepared: Prepared | None = prepared
        self._values = values

    def all(self) -> Sequence[Row]:
        if self._prepared is not None:
            self._rows, self._prepared = self._driver.run(self._prepared, [self._values]).all(), None
        return self._rows


def _fetch_all(cursor: sqlite3.Cursor) -> list[Any]:
    try:
        return cursor.fetchall()
    except sqlite3.Error:
        # An unreadable row (R9) leaves the statement open, and with it an old snapshot: every later write on this
        # connection would fail as locked.
        cursor.close()
        raise


def dump_json(value: Any) -> str:
    return orjson.dumps(value).decode()
