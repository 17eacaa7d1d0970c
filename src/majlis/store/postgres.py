"""PostgreSQL over asyncpg: runs the synchronous domain code of each transaction in a greenlet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Concatenate

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from majlis import telemetry
from majlis.store.deferred import Deferred, OneByOne
from majlis.store.hot import PostgresDriver
from majlis.store.transactions import AfterCommit, Dialect, Hooks, P, T, Tx, dump_json, keep_inside

_RETRYABLE = {"40001", "40P01"}  # serialization failure, deadlock: the transaction was rolled back
_TRIES = 5
_ALTER_LOCK = 0x6D616A6C  # an arbitrary number: one node migrates, the others wait
_ALTER_TRIES = 60
_ALTER_PAUSE = 1.0
_LOCK_NOT_AVAILABLE = "55P03"
_NOW = sa.text("SELECT extract(epoch FROM clock_timestamp()) * 1000")


class PostgresDatabase:
    dialect: Dialect = "postgresql"

    def __init__(self, url: sa.URL, pool_size: int = 20) -> None:
        self.after_commit: AfterCommit = keep_inside
        self.hooks = Hooks()
        self._engine = create_async_engine(
            url.set(drivername="postgresql+asyncpg"),
            # No connection is closed because many are idle: a new one has to prepare every statement again. For the
            # same reason the one that was used last is used next.
            pool_size=pool_size,
            max_overflow=0,
            pool_use_lifo=True,
            pool_pre_ping=False,
            pool_recycle=1800,
            hide_parameters=True,
            json_serializer=dump_json,
            json_deserializer=orjson.loads,
            connect_args={
                "timeout": 10,
                "prepared_statement_cache_size": 250,
                "server_settings": {
                    "application_name": "majlis",
                    # A stalled writer must not hold a space's lock. The replay of /api/events relies on this, too.
                    "idle_in_transaction_session_timeout": "15000",
                    "lock_timeout": "20000",
                },
            },
        )
        self.engine = self._engine.sync_engine
        self._readers: AsyncEngine = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        self._snapshots: AsyncEngine = self._engine.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )

    async def write(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        trace = telemetry.here()

        def run(conn: sa.Connection, one_by_one: bool) -> tuple[T, list[object]]:
            tx = self._tx(conn)
            tx.trace = trace
            if one_by_one:
                return work(tx, *args, **kwargs), tx.outbox
            tx.deferred = Deferred(tx.driver)
            result = work(tx, *args, **kwargs)
            tx.deferred.flush()
            return result, tx.outbox

        one_by_one = False
        tries = 0
        while True:
            committing = False
            try:
                async with self._engine.begin() as conn:
                    result, outbox = await conn.run_sync(run, one_by_one)
                    committing = True
                break
            except OneByOne:
                one_by_one = True
            except sa.exc.DBAPIError as error:
                # A lost connection rolls back, unless the commit was already sent: then its outcome is unknown.
                lost = error.connection_invalidated and not committing
                rolled_back = lost or getattr(error.orig, "sqlstate", None) in _RETRYABLE
                tries += 1
                if tries == _TRIES or not rolled_back:
                    raise
        if outbox:
            self.after_commit(outbox)
        return result

    def write_brief(
        self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Future[T]:
        return asyncio.ensure_future(self.write(work, *args, **kwargs))

    async def read(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._read(self._readers, lambda tx: work(tx, *args, **kwargs))

    async def snapshot(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._read(self._snapshots, lambda tx: work(tx, *args, **kwargs))

    async def alter(self, work: Callable[[Tx], T]) -> T:
        async with self._engine.connect() as conn:
            # Polled: a session that waits for the lock holds a snapshot, which CREATE INDEX CONCURRENTLY waits for.
            while not (await conn.execute(sa.text(f"SELECT pg_try_advisory_lock({_ALTER_LOCK})"))).scalar_one():
                await conn.rollback()
                await asyncio.sleep(0.1)
            # An ALTER TABLE that waits for a lock blocks every query of its table, so it waits briefly, and again.
            await conn.execute(sa.text("SET lock_timeout = '2s'"))
            await conn.commit()
            try:
                return await self._try_to_alter(conn, lambda c: work(self._tx(c)))
            finally:
                await conn.invalidate()  # Releases the lock and forgets the settings.

    async def changed_elsewhere(self) -> bool:
        return True

    async def server_time(self) -> int:
        return int(await self.read(lambda tx: tx.execute(_NOW).scalar_one()))

    async def close(self) -> None:
        await self._engine.dispose()

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

    def _tx(self, conn: sa.Connection) -> Tx:
        return Tx(conn, self.hooks, PostgresDriver(conn))

    async def _read(self, engine: AsyncEngine, work: Callable[[Tx], T]) -> T:
        """Retries once if the pooled connection was dead, for example after a restart of the server."""
        try:
            async with engine.connect() as conn:
                return await conn.run_sync(lambda c: work(self._tx(c)))
        except sa.exc.DBAPIError as error:
            if not error.connection_invalidated:
                raise
        async with engine.connect() as conn:
            return await conn.run_sync(lambda c: work(self._tx(c)))
