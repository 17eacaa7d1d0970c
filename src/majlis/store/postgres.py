"""PostgreSQL over asyncpg: runs the synchronous domain code of each transaction in a greenlet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Concatenate

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from majlis.store.hot import PostgresDriver
from majlis.store.transactions import AfterCommit, Dialect, Hooks, P, T, Tx, dump_json, keep_inside

_RETRYABLE = {"40001", "40P01"}  # serialization failure, deadlock: the transaction was rolled back
_TRIES = 5


class PostgresDatabase:
    dialect: Dialect = "postgresql"

    def __init__(self, url: sa.URL, pool_size: int = 10) -> None:
        self.after_commit: AfterCommit = keep_inside
        self.hooks = Hooks()
        self._engine = create_async_engine(
            url.set(drivername="postgresql+asyncpg"),
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_pre_ping=False,
            pool_recycle=1800,
            hide_parameters=True,
            json_serializer=dump_json,
            json_deserializer=orjson.loads,
            connect_args={
                "timeout": 10,
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
        def run(conn: sa.Connection) -> tuple[T, list[object]]:
            tx = self._tx(conn)
            return work(tx, *args, **kwargs), tx.outbox

        for attempt in range(_TRIES):
            committing = False
            try:
                async with self._engine.begin() as conn:
                    result, outbox = await conn.run_sync(run)
                    committing = True
                break
            except sa.exc.DBAPIError as error:
                # A lost connection rolls back, unless the commit was already sent: then its outcome is unknown.
                lost = error.connection_invalidated and not committing
                rolled_back = lost or getattr(error.orig, "sqlstate", None) in _RETRYABLE
                if attempt == _TRIES - 1 or not rolled_back:
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

    async def changed_elsewhere(self) -> bool:
        return True

    async def close(self) -> None:
        await self._engine.dispose()

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
