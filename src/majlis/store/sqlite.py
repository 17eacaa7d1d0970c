"""SQLite: one writer thread, a few reader threads, one hop between event loop and thread for each transaction.

The writer commits together what is waiting together, each piece of work in a savepoint of its own: with
`synchronous=FULL` the disk's flush is most of a commit's price, and a crowd shares it.

Brief writes on a disk that flushes in less than a millisecond are done in the event loop itself, over a connection of
their own, those of one turn of the loop in one commit: the two hops to the writer and back would cost as much as the
work, and two threads that both want the interpreter wait for each other longer still. SQLite's lock keeps loop and
writer apart; whoever does not get it at once, and a crowd that would hold up the loop, goes through the writer.
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
from majlis.store.drivers import SqliteDriver
from majlis.store.transactions import AfterCommit, Dialect, Hooks, P, T, Tx, keep_inside

_BATCH = 128
_AT_ONCE = 64
_QUICK_SECONDS = 0.001
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
        self.hooks = Hooks()
        self.engine = sa.create_engine(
            "sqlite://",
            creator=self._connect,
            poolclass=sa.NullPool,
            isolation_level="AUTOCOMMIT",
            # What was said is nobody's business who reads an error in a log or a trace.
            hide_parameters=True,
            json_serializer=dump_json,
            json_deserializer=load_json,
        )
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write_loop, name="sqlite-writer", daemon=True)
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="sqlite-reader")
        self._local = threading.local()
        self._connections: list[sa.Connection] = []
        self._versions: tuple[int, int] | None = None
        self._flush_seconds = 1.0  # how long a commit takes, lately; slow until we know better
        self._arrived: list[_Job] = []
        self._at_once: tuple[sa.Connection, sqlite3.Connection] | None = None
        self._closed = False
        self._writer.start()

    async def write(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return cast(T, await self._submit(lambda tx: work(tx, *args, **kwargs)))

    def write_brief(
        self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Future[T]:
        def run(tx: Tx) -> T:
            return work(tx, *args, **kwargs)

        if self._flush_seconds >= _QUICK_SECONDS or self._closed:
            return cast("asyncio.Future[T]", self._submit(run))
        loop = asyncio.get_running_loop()
        job = _Job(run, loop)
        if not self._arrived:
            loop.call_soon(self._do_arrived)
        self._arrived.append(job)
        return cast("asyncio.Future[T]", job.future)

    async def read(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._read, lambda tx: work(tx, *args, **kwargs))

    snapshot = read

    async def changed_elsewhere(self) -> bool:
        """`data_version` of a connection moves when *another* connection has written. We write over two, so it was
        another process, or both of ours, if it moved for both. Both are asked under the writer's lock: a foreign
        write between the two looks would move one now and the other at the next poll, and never be noticed."""
        conn, _ = self._open_at_once()
        versions = cast("tuple[int, int]", await self._submit(lambda tx: (_data_version(tx.conn), _data_version(conn))))
        before, self._versions = self._versions, versions
        return before is None or (versions[0] != before[0] and versions[1] != before[1])

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
            raise _stopping()
        loop = asyncio.get_running_loop()
        job = _Job(work, loop)
        self._jobs.put(job)
        return job.future

    def _do_arrived(self) -> None:
        """Those who came in one turn of the loop."""
        jobs, self._arrived = self._arrived, []
        if self._closed:
            _tell(jobs, _stopping(), self.after_commit)
        elif len(jobs) > _AT_ONCE or not self._jobs.empty() or not self._do_at_once(jobs):
            for job in jobs:
                self._jobs.put(job)

    def _do_at_once(self, jobs: list[_Job]) -> bool:
        """False when the database is locked, or the disk does not take the commit: then the writer will try."""
        conn, raw = self._open_at_once()
        try:
            raw.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        changes_before = raw.total_changes
        try:
            if len(jobs) > 1:
                for job in jobs:
                    _run_apart(job, conn, raw, self.hooks)
                self._commit(raw, changes_before)
            elif jobs[0].run(conn, self.hooks, raw):
                self._commit(raw, changes_before)
            else:
                raw.execute("ROLLBACK")
        except sqlite3.Error:
            if raw.in_transaction:
                raw.execute("ROLLBACK")
            return False
        _tell(jobs, None, self.after_commit)
        return True

    def _commit(self, raw: sqlite3.Connection, changes_before: int) -> None:
        started = time.perf_counter()
        raw.execute("COMMIT")
        # Where nothing was written nothing was flushed, and nothing was learnt about the disk.
        if raw.total_changes > changes_before:
            seconds = time.perf_counter() - started
            self._flush_seconds = min(seconds, self._flush_seconds + (seconds - self._flush_seconds) / 8)

    def _open_at_once(self) -> tuple[sa.Connection, sqlite3.Connection]:
        if self._at_once is None:
            self._at_once = self._open()
            self._at_once[1].execute("PRAGMA busy_timeout=0")
        return self._at_once

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
            return work(Tx(conn, self.hooks, SqliteDriver(raw)))
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
        changes_before = raw.total_changes
        jobs = [first]
        try:
            if first.run(conn, self.hooks, raw):
                self._join_in(conn, raw, jobs)
                self._commit(raw, changes_before)
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
            _run_apart(job, conn, raw, self.hooks)

    def _waiting(self) -> _Job | None:
        try:
            job = self._jobs.get_nowait()
        except queue.Empty:
            return None
        if job is None:
            self._jobs.put(None)  # the end is not ours to swallow: the loop outside has to see it
        return job


class _Work:
    """One piece of work and its outcome."""

    __slots__ = ("error", "outbox", "result", "work")

    def __init__(self, work: Callable[[Tx], object]) -> None:
        self.work = work
        self.result: object = None
        self.error: BaseException | None = None
        self.outbox: list[object] = []

    def run(self, conn: sa.Connection, hooks: Hooks, raw: sqlite3.Connection) -> bool:
        tx = Tx(conn, hooks, SqliteDriver(raw))
        self.error = None
        try:
            self.result = self.work(tx)
        except BaseException as error:
            self.error = error
            return False
        self.outbox = tx.outbox
        return True


class _Job(_Work):
    """Work for the writer, and who waits for it."""

    __slots__ = ("future", "loop")

    def __init__(self, work: Callable[[Tx], object], loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(work)
        self.future: asyncio.Future[object] = loop.create_future()
        self.loop = loop


def _stopping() -> Unavailable:
    return Unavailable("shutting_down", "Majlis is stopping; try again in a moment.")


def _run_apart(job: _Job, conn: sa.Connection, raw: sqlite3.Connection, hooks: Hooks) -> None:
    """In a savepoint of its own: what is refused leaves nothing behind, and the others go on."""
    raw.execute("SAVEPOINT job")
    if not job.run(conn, hooks, raw):
        raw.execute("ROLLBACK TO job")
    raw.execute("RELEASE job")


def _tell(jobs: list[_Job], error: BaseException | None, after_commit: AfterCommit) -> None:
    """What leaves the process leaves before the callers go on."""
    outbox = [item for job in jobs for item in job.outbox] if error is None else []
    if outbox:
        after_commit(outbox)
    for job in jobs:
        _resolve(job.future, job.result, error or job.error)


def _settle(jobs: list[_Job], error: BaseException | None = None, after_commit: AfterCommit = keep_inside) -> None:
    """Tell everyone in one hop back to the loop."""
    try:
        jobs[0].loop.call_soon_threadsafe(_tell, jobs, error, after_commit)
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


def _data_version(conn: sa.Connection) -> int:
    raw = cast(sqlite3.Connection, conn.connection.driver_connection)
    return int(raw.execute("PRAGMA data_version").fetchone()[0])


def dump_json(value: Any) -> str:
    return orjson.dumps(value).decode()


def load_json(stored: str | float) -> Any:
    """A column of type JSON has SQLite's numeric affinity: a number that stands alone is kept as one, not as text."""
    return stored if isinstance(stored, int | float) else orjson.loads(stored)
