"""The statements of one PostgreSQL connection, in as few round trips as their results allow.

A round trip costs more than most statements. So BEGIN, writes whose result nothing needs, and reads that can wait are
queued, and travel with the next statement whose result is needed, or with COMMIT. This is libpq's pipeline mode, on the
connection that SQLAlchemy has opened with psycopg.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import psycopg
import sqlalchemy as sa
from psycopg import pq
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from sqlalchemy.util import await_only

from majlis.store.hot import HotResult, Prepared, Row

BEGIN, SNAPSHOT = "BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_COMMIT, _ROLLBACK = "COMMIT", "ROLLBACK"
_CANCEL_AGAIN_SECONDS = 1.0
_DIVISION_BY_ZERO = "22012"
# Parameters and, unless all are texts, their formats.
Given = tuple[list[bytes | None], list[int] | None]
_OK = (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK)


class OneByOne(BaseException):
    """A deferred write did not do what its transaction relied on. The work has to run again without deferring, so that
    the write itself reports the problem. Not an `Exception`, so that no handler in the work catches it."""


@dataclass(slots=True, eq=False)
class _Statement:
    text: str
    # In PostgreSQL's format, so that a value that it cannot have is an error before anything is queued.
    given: Given = ([], None)
    make_row: Callable[[Sequence[Any]], Row] | None = None
    is_deferred: bool = False
    result: pq.abc.PGresult | None = None


@dataclass(slots=True, eq=False)
class _Exchange:
    """Statements under way. `expected` has what each result is for: the name of a statement that is being prepared, or
    the statement that runs."""

    expected: list[tuple[_Statement, bytes | None]]
    answered: asyncio.Future[None]
    at: int = 0
    error: psycopg.Error | None = None
    failed: _Statement | None = None
    # Called after a commit whose caller has been cancelled.
    on_commit: Callable[[], None] | None = None
    # Set when all results have arrived, for `reset`.
    left: asyncio.Event | None = None

    def leave(self) -> None:
        if self.on_commit is not None and self.error is None:
            self.on_commit()
        self.on_commit = None


class Pipeline:
    """The `Driver` of PostgreSQL. What waits for results runs in the greenlet of a transaction, `reset` does not."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        # After some commands psycopg discards the prepared statements of its connection, and so it must have none.
        connection.prepare_threshold = None
        self._pg = connection.pgconn
        self._transformer = Transformer(connection)
        self._loop = asyncio.get_running_loop()
        # libpq forgets it when the connection is lost.
        self._socket = self._pg.socket
        # The names of prepared statements by their text.
        self._names: dict[str, bytes] = {}
        self._named = 0
        self._queue: list[_Statement] = []
        self._under_way: _Exchange | None = None
        self._defers = False
        self._listens = self._writes = False
        # A COMMIT may have reached the server.
        self.has_sent_commit = False

    @property
    def is_lost(self) -> bool:
        return self._pg.status == pq.ConnStatus.BAD

    @property
    def is_idle(self) -> bool:
        return self._under_way is None and self._pg.transaction_status == pq.TransactionStatus.IDLE

    @property
    def is_committing(self) -> bool:
        return self._under_way is not None and self._under_way.expected[-1][0].text == _COMMIT

    def begin(self, text: str | None, defers: bool = False) -> None:
        """Without a text each statement is a transaction of its own."""
        self._queue = [] if text is None else [_Statement(text)]
        self._defers = defers
        self.has_sent_commit = False

    def run(self, prepared: Prepared, rows: list[Sequence[Any]]) -> HotResult:
        statements = [_Statement(prepared.text, _dumped(values), prepared.make_row) for values in rows]
        self._queue += statements
        self.flush()
        if len(statements) == 1 and prepared.make_row is not None:
            found = self.rows_of(statements[0])
            return HotResult(found, len(found))
        return HotResult([], sum(_count(each) for each in statements))

    def later(self, prepared: Prepared, rows: list[Sequence[Any]], checked: bool) -> bool:
        if not self._defers or prepared.make_row is not None:
            return self.run(prepared, rows).rowcount != 0
        text = _checked(prepared.text) if checked else prepared.text
        self._queue += [_Statement(text, _dumped(values), is_deferred=True) for values in rows]
        return True

    def ask(self, prepared: Prepared, values: Sequence[Any]) -> HotResult:
        self._queue.append(statement := _Statement(prepared.text, _dumped(values), prepared.make_row))
        return _Asked(self, statement)

    def flush(self) -> None:
        if self._queue:
            self._exchange(None)

    def give_way(self) -> None:
        """Before a statement that goes through SQLAlchemy: psycopg listens to the socket then."""
        self.flush()
        self.close()

    def listen(self) -> None:
        """While it is idle too, to notice that the connection is lost."""
        if not self._listens and not self.is_lost:
            self._loop.add_reader(self._socket, self._read)
            self._listens = True

    def close(self) -> None:
        """Before the connection is closed, or as soon as it is lost: then libpq has closed the socket, and its number
        may be another's soon."""
        if self._listens:
            self._listens = False
            self._loop.remove_reader(self._socket)
        if self._writes:
            self._writes = False
            self._loop.remove_writer(self._socket)

    def commit(self, on_commit: Callable[[], None]) -> None:
        """Nothing is sent if nothing was."""
        if [each.text for each in self._queue] == [BEGIN]:
            self._queue.clear()
            return
        self._queue.append(_Statement(_COMMIT))
        self._exchange(on_commit)

    def end(self) -> None:
        """Ends a transaction that has only read. Does not wait for it."""
        self._queue.clear()
        if not self.is_idle:
            self._send([_Statement(_COMMIT)])

    async def reset(self, cancel: Callable[[], Any]) -> None:
        """Rolls back, after the statements under way. Those that do not commit are cancelled."""
        if self._under_way is not None:
            left = self._under_way.left = asyncio.Event()
            while not left.is_set():
                # The server ignores a cancellation that arrives before the statement.
                if not self.is_committing:
                    await cancel()
                with suppress(TimeoutError):
                    async with asyncio.timeout(_CANCEL_AGAIN_SECONDS):
                        await left.wait()
        self._queue.clear()
        if not self.is_idle:
            await self._send([_Statement(_ROLLBACK)]).answered

    def rows_of(self, statement: _Statement) -> list[Row]:
        """Not before they are needed, and so in the greenlet: a damaged row is an error of its reader (R9)."""
        if statement.result is None:
            self.flush()
        result, make_row = statement.result, statement.make_row
        assert result is not None
        assert make_row is not None
        self._transformer.set_pgresult(result)
        return self._transformer.load_rows(0, result.ntuples, make_row)

    def _exchange(self, on_commit: Callable[[], None] | None) -> None:
        statements, self._queue = self._queue, []
        exchange = self._send(statements, on_commit)
        try:
            await_only(exchange.answered)
        except asyncio.CancelledError:
            # The answer and the cancellation have come together.
            if exchange.answered.done() and not exchange.answered.cancelled():
                exchange.leave()
            raise
        if exchange.error is not None:
            raise self._translated(exchange.error, exchange.failed)

    def _translated(self, error: psycopg.Error, failed: _Statement | None) -> BaseException:
        is_ours = isinstance(error, psycopg.IntegrityError) or error.sqlstate == _DIVISION_BY_ZERO
        if is_ours and failed is not None and failed.is_deferred:
            return OneByOne()
        text = failed.text if failed is not None else ""
        return sa.exc.DBAPIError.instance(
            text, None, error, psycopg.Error, hide_parameters=True, connection_invalidated=self.is_lost
        )

    def _send(self, statements: list[_Statement], on_commit: Callable[[], None] | None = None) -> _Exchange:
        exchange = _Exchange([], self._loop.create_future(), on_commit=on_commit)
        pg = self._pg
        try:
            pg.enter_pipeline_mode()
            for statement in statements:
                pg.send_query_prepared(self._name(statement, exchange), *statement.given)
                exchange.expected.append((statement, None))
            pg.pipeline_sync()
            self._under_way = exchange
            self.listen()
            self.has_sent_commit = statements[-1].text == _COMMIT
            if pg.flush():
                self._loop.add_writer(self._socket, self._go_on_writing)
                self._writes = True
        except psycopg.Error as error:
            self._under_way = exchange
            self._finish(error)
        return exchange

    def _name(self, statement: _Statement, exchange: _Exchange) -> bytes:
        name = self._names.get(statement.text)
        if name is not None:
            return name
        for other, preparing in exchange.expected:
            if preparing is not None and other.text == statement.text:
                return preparing
        self._named += 1
        name = b"majlis_%d" % self._named
        self._pg.send_prepare(name, statement.text.encode())
        exchange.expected.append((statement, name))
        return name

    def _go_on_writing(self) -> None:
        # The server stops reading while its own answers are not read.
        self._read()
        try:
            if self._writes and not self._pg.flush():
                self._writes = False
                self._loop.remove_writer(self._socket)
        except psycopg.Error as error:
            self._fail(error)

    def _read(self) -> None:
        try:
            self._pg.consume_input()
            if self._under_way is not None:
                self._take_results(self._under_way)
        except psycopg.Error as error:
            self._fail(error)

    def _take_results(self, exchange: _Exchange) -> None:
        pg = self._pg
        while not pg.is_busy():
            result = pg.get_result()
            if result is None:
                if self.is_lost:
                    raise psycopg.OperationalError(pg.get_error_message())
            elif result.status == pq.ExecStatus.PIPELINE_SYNC:
                pg.exit_pipeline_mode()
                self._finish(None)
                return
            else:
                self._take(result, exchange)

    def _fail(self, error: psycopg.Error) -> None:
        if self._under_way is not None:
            self._finish(error)
        else:
            self.close()

    def _take(self, result: pq.abc.PGresult, exchange: _Exchange) -> None:
        statement, preparing = exchange.expected[min(exchange.at, len(exchange.expected) - 1)]
        exchange.at += 1
        if result.status not in _OK:
            # The statements after the one that failed are aborted.
            if exchange.error is None:
                exchange.error, exchange.failed = error_from_result(result), statement
        elif preparing is not None:
            self._names[statement.text] = preparing
        elif statement.text == _COMMIT and result.command_status != b"COMMIT":
            # The work has caught the error of a statement that had failed.
            exchange.error, exchange.failed = psycopg.InternalError("the transaction was rolled back"), statement
        else:
            statement.result = result

    def _finish(self, error: psycopg.Error | None) -> None:
        exchange, self._under_way = self._under_way, None
        assert exchange is not None
        if error is not None:
            self.close()
        exchange.error = exchange.error or error
        if exchange.left is not None:
            exchange.left.set()
        if not exchange.answered.done():
            exchange.answered.set_result(None)
        else:
            exchange.leave()


class _Asked(HotResult):
    """The rows of a read that waits for the next round trip."""

    __slots__ = ("_pipeline", "_statement")

    def __init__(self, pipeline: Pipeline, statement: _Statement) -> None:
        super().__init__((), -1)
        self._pipeline = pipeline
        self._statement: _Statement | None = statement

    def all(self) -> Sequence[Row]:
        if self._statement is not None:
            self._rows, self._statement = self._pipeline.rows_of(self._statement), None
        return self._rows


def _count(statement: _Statement) -> int:
    return (statement.result.command_tuples or 0) if statement.result is not None else 0


def _dumped(values: Sequence[Any]) -> Given:
    """In PostgreSQL's text format, and bytes as they are."""
    dumped: list[bytes | None] = []
    formats: list[int] | None = None
    for value in values:
        kind = type(value)
        if value is None:
            dumped.append(None)
        elif kind is str:
            dumped.append(_text(value))
        elif kind is int:
            dumped.append(b"%d" % value)
        elif kind is bytes:
            formats = formats or [0] * len(values)
            formats[len(dumped)] = 1
            dumped.append(value)
        else:
            dumped.append(_dump(value))
    return dumped, formats


def _dump(value: Any) -> bytes:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return b"t" if value else b"f"
    if isinstance(value, (int, float)):
        return repr(value).encode()
    if isinstance(value, (list, tuple)):
        return b"{" + b",".join(map(_dump_element, value)) + b"}"
    raise TypeError(f"a hot statement cannot have a parameter of type {type(value).__name__}")


def _text(value: str) -> bytes:
    try:
        text = value.encode()
    except UnicodeEncodeError as error:
        raise _bad_text("a text has a lone surrogate") from error
    if b"\0" in text:
        raise _bad_text("a text has a NUL character")
    return text


def _dump_element(value: Any) -> bytes:
    if value is None:
        return b"NULL"
    return b'"' + _dump(value).replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def _bad_text(what: str) -> sa.exc.DataError:
    return sa.exc.DataError("", None, psycopg.DataError(f"PostgreSQL cannot store it: {what}"))


@lru_cache(maxsize=256)
def _checked(text: str) -> str:
    """Fails if it changes no row, and with it the COMMIT that was sent after it."""
    return f"WITH changed AS ({text} RETURNING 1) SELECT 1 / count(*) FROM changed"
