"""PostgreSQL over asyncpg: the same synchronous domain code, run in a greenlet for each transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Concatenate

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from majlis.store.drivers import PostgresDriver
from majlis.store.sqlite import dump_json
from majlis.store.transactions import AfterCommit, Dialect, Hooks, P, T, Tx, keep_inside

_RETRYABLE = {"40001", "40P01"}  # serialization failure, deadlock: the loser was rolled back whole
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
                    # A writer that stalls must not hold a space's lock; the replay of /api/events relies on it too.
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
        for attempt in range(_TRIES):
            try:
                result, outbox = await self._once(lambda tx: work(tx, *args, **kwargs))
                break
            except sa.exc.DBAPIError as error:
                if attempt == _TRIES - 1 or not _worth_retrying(error):
                    raise
        if outbox:
            self.after_commit(outbox)
        return result

    def write_brief(
        self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Future[T]:
        return asyncio.ensure_future(self.write(work, *args, **kwargs))

    async def read(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._look(self._readers, lambda tx: work(tx, *args, **kwargs))

    async def snapshot(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._look(self._snapshots, lambda tx: work(tx, *args, **kwargs))

    async def changed_elsewhere(self) -> bool:
        return True

    async def close(self) -> None:
        await self._engine.dispose()

    async def _once(self, work: Callable[[Tx], T]) -> tuple[T, list[object]]:
        async with self._engine.begin() as conn:

            def run(sync_conn: sa.Connection) -> tuple[T, list[object]]:
                tx = self._tx(sync_conn)
                return work(tx), tx.outbox

            return await conn.run_sync(run)

    def _tx(self, conn: sa.Connection) -> Tx:
        return Tx(conn, self.hooks, PostgresDriver(conn))

    async def _look(self, engine: AsyncEngine, work: Callable[[Tx], T]) -> T:
        """Reading again does no harm: once more when the pooled connection had died (the server was restarted)."""
        try:
            async with engine.connect() as conn:
                return await conn.run_sync(lambda c: work(self._tx(c)))
        except sa.exc.DBAPIError as error:
            if not error.connection_invalidated:
                raise
        async with engine.connect() as conn:
            return await conn.run_sync(lambda c: work(self._tx(c)))


def _worth_retrying(error: sa.exc.DBAPIError) -> bool:
    state: Any = getattr(error.orig, "sqlstate", None)
    return state in _RETRYABLE
