"""Statements of the hot paths, straight to the driver.

SQLAlchemy composes, checks and types our statements; executing one through it costs some 40 µs, on SQLite several times
the statement itself. A statement marked `hot` is compiled once by SQLAlchemy, with its own type conversions, and then
run with the driver's cursor. Everything else, and whoever listens to SQLAlchemy's events (tests that count
statements), takes the usual way; so both ways are tested by the same tests.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy.sql.compiler import SQLCompiler

S = TypeVar("S", bound=sa.Executable)
Process = Callable[[Any], Any]
_MARK = "_majlis_hot"


def hot(statement: S) -> S:
    """For statements made once, with bound parameters and without lists among them."""
    setattr(statement, _MARK, (id(statement), {}))
    return statement


class Driver(Protocol):
    """Runs a statement's text once, or once for each row of parameters. Its errors are SQLAlchemy's."""

    def run(self, text: str, given: list[list[Any]], has_rows: bool) -> tuple[Sequence[Any], int]: ...


def run_hot(conn: sa.Connection, driver: Driver, statement: Any, parameters: Any) -> HotResult | None:
    """None for a statement that is not marked, or while somebody listens."""
    marked: tuple[int, dict[Any, _Prepared | None]] | None = statement.__dict__.get(_MARK)
    # A statement derived from a marked one is a copy with the mark, and not marked itself.
    if marked is None or marked[0] != id(statement) or _somebody_listens(conn):
        return None
    prepared = marked[1]
    many = isinstance(parameters, list)
    first = (parameters[0] if many else parameters) or {}
    key = (conn.dialect.name, *first)
    if key not in prepared:
        prepared[key] = _prepare(conn, statement, list(first))
    found = prepared[key]
    return found.run(driver, parameters if many else [first]) if found is not None else None


def _somebody_listens(conn: sa.Connection) -> bool:
    return (conn._has_events or conn.engine._has_events) and bool(conn.dispatch.before_cursor_execute)


class HotResult:
    """As much of SQLAlchemy's result as we use."""

    __slots__ = ("_rows", "rowcount")

    def __init__(self, rows: list[Any], rowcount: int) -> None:
        self._rows = rows
        self.rowcount = rowcount

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


def _prepare(conn: sa.Connection, statement: Any, keys: list[str]) -> _Prepared | None:
    compiled = statement.compile(dialect=conn.dialect, column_keys=keys or None)
    assert isinstance(compiled, SQLCompiler)
    # A list among the parameters makes another text for each length: that is SQLAlchemy's business.
    return None if compiled.post_compile_params else _Prepared(conn, compiled)


class _Prepared:
    def __init__(self, conn: sa.Connection, compiled: SQLCompiler) -> None:
        self._text = str(compiled)
        processors = cast("dict[str, Process]", compiled._bind_processors)
        constants = compiled.params
        self._binds = [(name, processors.get(name), constants.get(name)) for name in compiled.positiontup or ()]
        columns = compiled._result_columns
        out = (column.type._cached_result_processor(conn.dialect, None) for column in columns)
        self._out = [(index, convert) for index, convert in enumerate(out) if convert is not None]
        self._row = _row_class([column.name for column in columns]) if columns else None

    def run(self, driver: Driver, given: list[dict[str, Any]]) -> HotResult:
        rows, count = driver.run(self._text, [self._bound(each) for each in given], self._row is not None)
        return HotResult([self._made(row) for row in rows], count)

    def _bound(self, given: dict[str, Any]) -> list[Any]:
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
            # No type of ours makes anything of NULL but None.
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
