"""PostgreSQL over psycopg: runs the synchronous domain code of each transaction in a greenlet.

Statements marked `hot`, BEGIN and COMMIT go through a `Pipeline`, others through SQLAlchemy, on the same connection.
SQLAlchemy's own pool and its transactions are not used: they cost more time than most statements.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate

import orjson
import psycopg
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from majlis import telemetry
from majlis.store.hot import dump_json
from majlis.store.pipeline import BEGIN, SNAPSHOT, OneByOne, Pipeline
from majlis.store.transactions import AfterCommit, Dialect, Hooks, P, T, Tx, keep_inside

_RETRYABLE = {"40001", "40P01"}  # serialization failure, deadlock: the transaction was rolled back
# A table was changed since a statement on it was prepared.
_CHANGED_PLAN = "0A000"
_TRIES = 5
_CONNECT_SECONDS = 10
_POOL_SECONDS = 30
# Longer than a commit can wait for a lock (`lock_timeout`).
_RESET_SECONDS = 30
_RECYCLE_SECONDS = 1800
_ALTER_LOCK = 0x6D616A6C  # an arbitrary number: one node migrates, the others wait
_ALTER_TRIES = 60
_ALTER_PAUSE = 1.0
_LOCK_NOT_AVAILABLE = "55P03"
_NOW = sa.text("SELECT extract(epoch FROM clock_timestamp()) * 1000")
# A stalled writer must not hold a space's lock. The replay of /api/events relies on this, too.
_OPTIONS = "-c idle_in_transaction_session_timeout=15000 -c lock_timeout=20000"


class PostgresDatabase:
    dialect: Dialect = "postgresql"

    def __init__(self, url: sa.URL, pool_size: int = 20) -> None:
        self.after_commit: AfterCommit = keep_inside
        self.hooks = Hooks()
        self._engine = create_async_engine(
            _for_psycopg(url),
            poolclass=sa.NullPool,
            isolation_level="AUTOCOMMIT",
            # Otherwise the count of an INSERT is gone with its cursor.
            execution_options={"preserve_rowcount": True},
            # Keep message text out of SQL errors.
            hide_parameters=True,
            json_serializer=dump_json,
            json_deserializer=orjson.loads,
            use_native_hstore=False,
            connect_args={
                "connect_timeout": _CONNECT_SECONDS,
                "application_name": "majlis",
                # Parameters are sent as UTF-8, also to a database with another encoding.
                "client_encoding": "utf8",
            },
        )
        self.engine = self._engine.sync_engine
        self._pool = _Pool(self._engine, pool_size)

    async def write(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        trace = telemetry.here() if telemetry.listener is not None else None
        defers, may_be_committed = True, False
        outbox: list[object] = []

        def run(conn: sa.Connection, pipeline: Pipeline) -> T:
            nonlocal may_be_committed, outbox
            tx = Tx(conn, self.hooks, pipeline, trace=trace)
            pipeline.begin(BEGIN, defers)
            try:
                result = work(tx, *args, **kwargs)
                pipeline.commit(lambda: self._leave(tx.leaving()))
            finally:
                may_be_committed = pipeline.has_sent_commit
            outbox = tx.leaving()
            return result

        tries = 0
        while True:
            try:
                result = await self._pool.run(run)
                break
            except OneByOne:
                defers = False
            except sa.exc.DBAPIError as error:
                # A lost connection rolls back, unless the commit was already sent: then its outcome is unknown.
                lost = error.connection_invalidated and not may_be_committed
                tries += 1
                if tries == _TRIES or not (lost or _is_rolled_back(error)):
                    raise
        self._leave(outbox)
        return result

    def write_brief(
        self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Future[T]:
        return asyncio.ensure_future(self.write(work, *args, **kwargs))

    async def read(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        def run(conn: sa.Connection, pipeline: Pipeline) -> T:
            pipeline.begin(None)
            return work(Tx(conn, self.hooks, pipeline), *args, **kwargs)

        return await self._read(run)

    async def snapshot(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        def run(conn: sa.Connection, pipeline: Pipeline) -> T:
            pipeline.begin(SNAPSHOT)
            result = work(Tx(conn, self.hooks, pipeline), *args, **kwargs)
            pipeline.end()
            return result

        return await self._read(run)

    async def alter(self, work: Callable[[Tx], T]) -> T:
        async with self._engine.connect() as conn:
            await conn.execution_options(isolation_level="READ COMMITTED")
            # Polled: a session that waits for the lock holds a snapshot, which CREATE INDEX CONCURRENTLY waits for.
            while not (await conn.execute(sa.text(f"SELECT pg_try_advisory_lock({_ALTER_LOCK})"))).scalar_one():
                await conn.rollback()
                await asyncio.sleep(0.1)
            # An ALTER TABLE that waits for a lock blocks every query of its table, so it waits briefly, and again.
            await conn.execute(sa.text("SET lock_timeout = '2s'"))
            await conn.commit()
            try:
                return await self._try_to_alter(conn, lambda c: work(Tx(c, self.hooks, None)))
            finally:
                await conn.invalidate()  # Releases the lock and forgets the settings.

    async def changed_elsewhere(self) -> bool:
        return True

    async def server_time(self) -> int:
        return int(await self.read(lambda tx: tx.execute(_NOW).scalar_one()))

    async def close(self) -> None:
        await self._pool.close()
        await self._engine.dispose()

    def _leave(self, outbox: list[object]) -> None:
        if outbox:
            self.after_commit(outbox)

    async def _read(self, run: Callable[[sa.Connection, Pipeline], T]) -> T:
        """Retries once if the connection was dead, for example after a restart of the server."""
        try:
            return await self._pool.run(run)
        except sa.exc.DBAPIError as error:
            if not error.connection_invalidated and not _is_rolled_back(error):
                raise
        return await self._pool.run(run)

    async def _try_to_alter(self, conn: AsyncConnection, work: Callable[[sa.Connection], T]) -> T:
        tries = _ALTER_TRIES
        while True:
            try:
                return await conn.run_sync(work)
            except sa.exc.DBAPIError as error:
                tries -= 1
                if tries == 0 or getattr(error.orig, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
                    raise
            await conn.rollback()
            await asyncio.sleep(_ALTER_PAUSE)


def _for_psycopg(url: sa.URL) -> sa.URL:
    query = dict(url.query)
    # asyncpg's name for it, which was valid in earlier versions of Majlis.
    if "ssl" in query:
        query.setdefault("sslmode", query.pop("ssl"))
    given = query.get("options", "")
    options = given if isinstance(given, str) else " ".join(given)
    return url.set(drivername="postgresql+psycopg", query=query | {"options": f"{_OPTIONS} {options}".strip()})


def _is_rolled_back(error: sa.exc.DBAPIError) -> bool:
    return getattr(error.orig, "sqlstate", None) in _RETRYABLE or _has_changed_plan(error)


def _has_changed_plan(error: sa.exc.DBAPIError) -> bool:
    return getattr(error.orig, "sqlstate", None) == _CHANGED_PLAN and "cached plan" in str(error.orig)


class _Connection:
    def __init__(self, conn: AsyncConnection, raw: psycopg.AsyncConnection[Any]) -> None:
        self.conn = conn
        self.raw = raw
        self.pipeline = Pipeline(raw)
        self.is_spoiled = False
        self._opened_at = time.monotonic()

    @property
    def is_old(self) -> bool:
        return time.monotonic() - self._opened_at > _RECYCLE_SECONDS

    async def cancel(self) -> None:
        await self.raw.cancel_safe(timeout=_RESET_SECONDS)


class _Pool:
    """The connection that was used last is used next, since it has prepared most statements. None is closed because
    many are idle."""

    def __init__(self, engine: AsyncEngine, size: int) -> None:
        self._engine = engine
        self._size = size
        self._open = 0
        self._idle: list[_Connection] = []
        # A waiter gets a connection, or None if there is room for a new one.
        self._waiting: deque[asyncio.Future[_Connection | None]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    async def run(self, work: Callable[[sa.Connection, Pipeline], T]) -> T:
        held = await self._take()
        try:
            return await held.conn.run_sync(work, held.pipeline)
        except sa.exc.DBAPIError as error:
            # Those that are busy find out by themselves.
            held.is_spoiled = error.connection_invalidated or _has_changed_plan(error)
            raise
        finally:
            self._give_back(held)

    async def close(self) -> None:
        self._closed = True
        while self._idle:
            await self._close(self._idle.pop())
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _take(self) -> _Connection:
        while True:
            if self._idle:
                held = self._idle.pop()
                if not held.is_old and not held.pipeline.is_lost:
                    return held
                await self._close(held)
            elif self._open < self._size:
                return await self._connect()
            elif (waited := await self._wait()) is not None:
                return waited

    async def _wait(self) -> _Connection | None:
        waiter: asyncio.Future[_Connection | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            async with asyncio.timeout(_POOL_SECONDS):
                return await waiter
        except TimeoutError:
            # It may have come at the last moment.
            if waiter.done() and not waiter.cancelled():
                return waiter.result()
            raise sa.exc.TimeoutError(f"no connection to PostgreSQL was free for {_POOL_SECONDS} s") from None
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._hand_on(waiter.result())
            raise
        finally:
            if waiter in self._waiting:
                self._waiting.remove(waiter)

    async def _connect(self) -> _Connection:
        self._open += 1
        try:
            conn = await self._engine.connect()
            raw = (await conn.get_raw_connection()).driver_connection
            assert isinstance(raw, psycopg.AsyncConnection)
            return _Connection(conn, raw)
        except BaseException:
            self._open -= 1
            self._hand_on(None)
            raise

    def _give_back(self, held: _Connection) -> None:
        if held.is_spoiled:
            # Those that are idle have the same trouble, for example after a restart of the server.
            spoiled, self._idle = [held, *self._idle], []
            for each in spoiled:
                self._later(self._close(each))
        elif held.pipeline.is_lost or held.conn.invalidated:
            self._later(self._close(held))
        elif held.pipeline.is_idle:
            held.pipeline.listen()
            self._hand_on(held)
        else:
            self._later(self._reset(held))

    def _hand_on(self, held: _Connection | None) -> None:
        """None stands for room for a new connection."""
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(held)
                return
        if held is None:
            return
        if self._closed:
            self._later(self._close(held))
        else:
            self._idle.append(held)

    async def _reset(self, held: _Connection) -> None:
        try:
            async with asyncio.timeout(_RESET_SECONDS):
                await held.pipeline.reset(held.cancel)
        except Exception:
            await self._close(held)
        else:
            self._give_back(held)

    async def _close(self, held: _Connection) -> None:
        self._open -= 1
        self._hand_on(None)
        held.pipeline.close()
        with contextlib.suppress(Exception):
            await held.conn.close()

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
