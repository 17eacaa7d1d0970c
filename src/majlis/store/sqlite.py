"""SQLite: one writer thread, a few reader threads, one hop between event loop and thread for each transaction.

The writer commits together what is waiting together, each piece of work in a savepoint of its own: with
`synchronous=FULL` the disk's flush is most of a commit's price, and a crowd shares it.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Concatenate, cast

import orjson
import sqlalchemy as sa

from majlis.errors import Unavailable
from majlis.store.transactions import AfterCommit, Dialect, P, T, Tx, keep_inside

_BATCH = 128
_READERS = 4
_BUSY_SECONDS = 30
_PRAGMAS = (
    # FULL: an acknowledged message survives a power cut, not only a crash (docs/decisions.md has the figures).
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA cache_size=-16000",
    "PRAGMA mmap_size=268435456",
    "PRAGMA journal_size_limit=67108864",
)


class SqliteDatabase:
    dialect: Dialect = "sqlite"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.after_commit: AfterCommit = keep_inside
        self.engine = sa.create_engine(
            "sqlite://",
            creator=self._connect,
            poolclass=sa.NullPool,
            isolation_level="AUTOCOMMIT",
            json_serializer=dump_json,
            json_deserializer=orjson.loads,
        )
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write_loop, name="sqlite-writer", daemon=True)
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="sqlite-reader")
        self._local = threading.local()
        self._connections: list[sa.Connection] = []
        self._data_version: int | None = None
        self._closed = False
        self._writer.start()

    async def write(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return cast(T, await self._submit(lambda tx: work(tx, *args, **kwargs)))

    async def read(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._read, lambda tx: work(tx, *args, **kwargs))

    snapshot = read

    async def changed_elsewhere(self) -> bool:
        """`data_version` of a connection moves when *another* connection has written: here, another process."""
        version = cast(int, await self._submit(_data_version))
        changed, self._data_version = version != self._data_version, version
        return changed

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._jobs.put(None)
        await asyncio.to_thread(self._writer.join)
        await asyncio.to_thread(self._readers.shutdown)
        for conn in self._connections:
            conn.close()
        self.engine.dispose()

    def _submit(self, work: Callable[[Tx], object]) -> asyncio.Future[object]:
        if self._closed:
            raise Unavailable("shutting_down", "Majlis is stopping; try again in a moment.")
        loop = asyncio.get_running_loop()
        job = _Job(work, loop.create_future(), loop)
        self._jobs.put(job)
        return job.future

    def _connect(self) -> sqlite3.Connection:
        raw = sqlite3.connect(
            self.path,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        _use_write_ahead_log(raw)
        for pragma in _PRAGMAS:
            raw.execute(pragma)
        return raw

    def _open(self) -> tuple[sa.Connection, sqlite3.Connection]:
        conn = self.engine.connect()
        self._connections.append(conn)
        return conn, cast(sqlite3.Connection, conn.connection.driver_connection)

    def _read(self, work: Callable[[Tx], T]) -> T:
        if not hasattr(self._local, "conn"):
            self._local.conn = self._open()
        conn, raw = self._local.conn
        raw.execute("BEGIN")
        try:
            return work(Tx(conn))
        finally:
            raw.execute("ROLLBACK")

    def _write_loop(self) -> None:
        conn: sa.Connection | None = None
        while (job := self._jobs.get()) is not None:
            try:
                if conn is None:
                    conn, raw = self._open()
                self._commit_together(conn, raw, job)
            except Exception as error:
                # Opening, BEGIN or COMMIT failed (locked for too long, disk full): nothing was written.
                _settle([job], error)

    def _commit_together(self, conn: sa.Connection, raw: sqlite3.Connection, first: _Job) -> None:
        """Nobody is told anything before the commit, not even those whose work was refused: the reason for a
        refusal (a name that is taken, a repeated client id) may be something that this very batch commits."""
        raw.execute("BEGIN IMMEDIATE")
        jobs = [first]
        try:
            if first.run(conn):
                self._join_in(conn, raw, jobs)
                raw.execute("COMMIT")
            else:
                raw.execute("ROLLBACK")
        except Exception as error:
            if raw.in_transaction:
                raw.execute("ROLLBACK")
            _settle(jobs, error)
            return
        _settle(jobs, after_commit=self.after_commit)

    def _join_in(self, conn: sa.Connection, raw: sqlite3.Connection, jobs: list[_Job]) -> None:
        while len(jobs) < _BATCH and (job := self._waiting()) is not None:
            jobs.append(job)
            raw.execute("SAVEPOINT job")
            if not job.run(conn):
                raw.execute("ROLLBACK TO job")
            raw.execute("RELEASE job")

    def _waiting(self) -> _Job | None:
        try:
            job = self._jobs.get_nowait()
        except queue.Empty:
            return None
        if job is None:
            self._jobs.put(None)  # the end is not ours to swallow: the loop outside has to see it
        return job


class _Job:
    """One piece of work, its outcome, and who waits for it."""

    __slots__ = ("error", "future", "loop", "outbox", "result", "work")

    def __init__(
        self, work: Callable[[Tx], object], future: asyncio.Future[object], loop: asyncio.AbstractEventLoop
    ) -> None:
        self.work = work
        self.future = future
        self.loop = loop
        self.result: object = None
        self.error: BaseException | None = None
        self.outbox: list[object] = []

    def run(self, conn: sa.Connection) -> bool:
        tx = Tx(conn)
        try:
            self.result = self.work(tx)
        except BaseException as error:
            self.error = error
            return False
        self.outbox = tx.outbox
        return True


def _settle(jobs: list[_Job], error: BaseException | None = None, after_commit: AfterCommit = keep_inside) -> None:
    """Tell everyone in one hop back to the loop; what leaves the process leaves before the callers go on."""

    def settle() -> None:
        outbox = [item for job in jobs for item in job.outbox] if error is None else []
        if outbox:
            after_commit(outbox)
        for job in jobs:
            _resolve(job.future, job.result, error or job.error)

    try:
        jobs[0].loop.call_soon_threadsafe(settle)
    except RuntimeError:
        # The loop has ended (the process is stopping); nobody is left to be told.
        return


def _resolve(future: asyncio.Future[object], result: object, error: BaseException | None) -> None:
    if future.cancelled():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)


def _use_write_ahead_log(raw: sqlite3.Connection) -> None:
    """Once for a new file; the switch does not wait for other connections by itself, so we do."""
    give_up = time.monotonic() + _BUSY_SECONDS
    while raw.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            raw.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.01)


def _data_version(tx: Tx) -> int:
    return int(tx.conn.exec_driver_sql("PRAGMA data_version").scalar_one())


def dump_json(value: Any) -> str:
    return orjson.dumps(value).decode()
