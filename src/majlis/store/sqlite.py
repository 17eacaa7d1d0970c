"""SQLite: one writer thread and a few reader threads; each transaction crosses from the event loop to a thread once.

The writer commits waiting jobs together, each in its own savepoint: with `synchronous=FULL` most of a commit's cost is
flushing the disk, and the batch shares it.

If the disk flushes in less than a millisecond, brief writes run in the event loop itself, over their own connection,
and all writes of one turn of the loop share a commit: the two hops to the writer and back would cost as much as the
work, and two threads that both want the interpreter's lock wait even longer. SQLite's lock separates loop and writer.
Jobs that do not get it at once, and batches that would block the loop, go through the writer.
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
from sqlalchemy.ext.compiler import compiles

from majlis import clock, telemetry
from majlis.errors import Unavailable
from majlis.store.hot import SqliteDriver, dump_json
from majlis.store.transactions import AfterCommit, Dialect, Hooks, P, T, Tx, keep_inside

_BATCH = 128
_LOOP_BATCH = 64
_QUICK_SECONDS = 0.001
_READERS = 4
_BUSY_SECONDS = 30
_PRAGMAS = (
    # FULL: an acknowledged message survives a power failure, not only a crash (see docs/decisions.md).
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    # Deleted bytes are overwritten (L2).
    "PRAGMA secure_delete=ON",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA cache_size=-16000",
    "PRAGMA mmap_size=268435456",
    "PRAGMA journal_size_limit=67108864",
)


@compiles(sa.Insert, "sqlite")
def _insert(statement: sa.Insert, compiler: Any, **options: Any) -> str:
    """In lower case: Python looks for the word to count rows, and in a Turkish locale "I" is not the capital of "i"."""
    text: str = compiler.visit_insert(statement, **options)
    return text.replace("INSERT", "insert", 1)


class SqliteDatabase:
    dialect: Dialect = "sqlite"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.after_commit: AfterCommit = keep_inside
        self.hooks = Hooks()
        self.engine = self._create_engine()
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write_loop, name="sqlite-writer", daemon=True)
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="sqlite-reader")
        self._local = threading.local()
        self._connections: list[Connection] = []
        self._versions: tuple[int, int] | None = None
        # The duration of recent commits; assumed to be slow until the first one.
        self._flush_seconds = 1.0
        self._brief: list[Job] = []
        self._loop_connection: Connection | None = None
        self._closed = False
        self._start_writer()

    def _create_engine(self) -> sa.Engine:
        return create_engine(self._connect)

    def _start_writer(self) -> None:
        """`majlis prove` runs the writer's work in its simulated event loop instead."""
        self._writer.start()

    async def write(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        if self._closed:
            raise _stopping()
        job = Job(lambda tx: work(tx, *args, **kwargs))
        self._jobs.put(job)
        return cast(T, await job.future)

    def write_brief(
        self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Future[T]:
        if self._closed:
            raise _stopping()
        job = Job(lambda tx: work(tx, *args, **kwargs))
        if self._flush_seconds >= _QUICK_SECONDS:
            self._jobs.put(job)
        else:
            if not self._brief:
                job.loop.call_soon(self._run_brief)
            self._brief.append(job)
        return cast("asyncio.Future[T]", job.future)

    async def read(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._read, lambda tx: work(tx, *args, **kwargs))

    snapshot = read

    async def alter(self, work: Callable[[Tx], T]) -> T:
        return await self.write(work)

    async def changed_elsewhere(self) -> bool:
        """A connection's `data_version` changes when another connection has written. We write over two connections, so
        only a change for both can mean another process. Both are read under the writer's lock: a foreign write between
        the two reads would change one now and the other at the next poll, and never be noticed."""
        ours = self._open_loop_connection()
        versions = await self.write(lambda tx: (_data_version(tx.conn), _data_version(ours.conn)))
        before, self._versions = self._versions, versions
        return before is None or (versions[0] != before[0] and versions[1] != before[1])

    async def server_time(self) -> int:
        return clock.now()

    async def truncate_log(self) -> None:
        """Empties the write-ahead log, so that no deleted byte stays in it. While another connection reads, it cannot
        be emptied: then this tries again, for a few seconds."""
        for _ in range(50):
            if self._closed or await asyncio.to_thread(self._checkpoint):
                return
            await asyncio.sleep(0.1)

    def _checkpoint(self) -> bool:
        raw = self._connect()
        try:
            raw.execute("PRAGMA busy_timeout=1000")
            return bool(raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
        finally:
            raw.close()

    def copy(self, target: Path, is_stopped: Callable[[], bool]) -> None:
        """Blocks. A compact copy of one moment, without deleted bytes. Other connections go on reading and writing."""
        raw = self._connect()
        try:
            raw.set_progress_handler(is_stopped, 100_000)
            raw.execute("VACUUM INTO ?", (str(target),))
        finally:
            raw.close()

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._jobs.put(None)
        await asyncio.to_thread(self._writer.join)
        await asyncio.to_thread(self._readers.shutdown)
        for connection in self._connections:
            connection.conn.close()
        self.engine.dispose()

    def _run_brief(self) -> None:
        """Runs the brief writes of one turn of the event loop."""
        jobs, self._brief = self._brief, []
        if self._closed:
            resolve(jobs, _stopping(), self.after_commit)
        elif len(jobs) > _LOOP_BATCH or not self._jobs.empty() or not self._run_in_loop(jobs):
            for job in jobs:
                self._jobs.put(job)

    def _run_in_loop(self, jobs: list[Job]) -> bool:
        """False if the database is locked or the commit fails; then the writer tries."""
        connection = self._open_loop_connection()
        try:
            connection.begin()
        except sqlite3.OperationalError:
            return False
        try:
            if len(jobs) > 1:
                for job in jobs:
                    job.run_in_savepoint(connection)
                self._commit(connection)
            elif jobs[0].run(connection):
                self._commit(connection)
            else:
                connection.rollback()
        except sqlite3.Error:
            connection.rollback()
            return False
        resolve(jobs, None, self.after_commit)
        return True

    def _commit(self, connection: Connection) -> None:
        started = time.perf_counter()
        # A commit without changes flushes nothing, and so says nothing about the disk.
        if connection.commit():
            seconds = time.perf_counter() - started
            self._flush_seconds = min(seconds, self._flush_seconds + (seconds - self._flush_seconds) / 8)

    def _connect(self) -> sqlite3.Connection:
        raw = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        _use_write_ahead_log(raw)
        for pragma in _PRAGMAS:
            raw.execute(pragma)
        return raw

    def _open(self) -> Connection:
        connection = Connection(self.engine.connect(), self.hooks)
        self._connections.append(connection)
        return connection

    def _open_loop_connection(self) -> Connection:
        if self._loop_connection is None:
            self._loop_connection = self._open()
            self._loop_connection.raw.execute("PRAGMA busy_timeout=0")
        return self._loop_connection

    def _read(self, work: Callable[[Tx], T]) -> T:
        if not hasattr(self._local, "connection"):
            self._local.connection = self._open()
        connection: Connection = self._local.connection
        connection.raw.execute("BEGIN")
        try:
            return work(connection.tx())
        finally:
            connection.raw.execute("ROLLBACK")

    def _write_loop(self) -> None:
        connection: Connection | None = None
        while (job := self._jobs.get()) is not None:
            try:
                connection = connection or self._open()
                self._write_batch(connection, job)
            except Exception as error:
                # Connecting or BEGIN failed, for example because the database was locked for too long.
                _resolve_in_loop([job], error, keep_inside)

    def _write_batch(self, connection: Connection, first: Job) -> None:
        """Resolves no job before the commit, not even a failed one: the reason of its failure (a name that is taken, a
        repeated client id) may be another job of the same batch."""
        connection.begin()
        jobs = [first]
        try:
            if first.run(connection):
                while len(jobs) < _BATCH and (job := self._next_waiting()) is not None:
                    jobs.append(job)
                    job.run_in_savepoint(connection)
                self._commit(connection)
            else:
                connection.rollback()
        except Exception as error:
            # Nothing was written, for example because the disk is full.
            connection.rollback()
            _resolve_in_loop(jobs, error, keep_inside)
        else:
            _resolve_in_loop(jobs, None, self.after_commit)

    def _next_waiting(self) -> Job | None:
        try:
            job = self._jobs.get_nowait()
        except queue.Empty:
            return None
        if job is None:
            self._jobs.put(None)  # The writer's loop ends with it.
        return job


def create_engine(connect: Callable[[], sqlite3.Connection]) -> sa.Engine:
    return sa.create_engine(
        "sqlite://",
        creator=connect,
        poolclass=sa.NullPool,
        isolation_level="AUTOCOMMIT",
        # Keep message text out of SQL errors.
        hide_parameters=True,
        json_serializer=dump_json,
        json_deserializer=load_json,
    )


class Connection:
    """Statements go through SQLAlchemy's connection; BEGIN and COMMIT go directly to the driver's."""

    __slots__ = ("_changes", "_driver", "_hooks", "conn", "raw")

    def __init__(self, conn: sa.Connection, hooks: Hooks) -> None:
        self.conn = conn
        self.raw = cast(sqlite3.Connection, conn.connection.driver_connection)
        self._hooks = hooks
        self._driver = SqliteDriver(self.raw)
        self._changes = 0

    def tx(self, trace: str | None = None) -> Tx:
        return Tx(self.conn, self._hooks, self._driver, trace=trace)

    def begin(self) -> None:
        self.raw.execute("BEGIN IMMEDIATE")
        self._changes = self.raw.total_changes

    def commit(self) -> bool:
        """False if there was nothing to write."""
        self.raw.execute("COMMIT")
        return self.raw.total_changes > self._changes

    def rollback(self) -> None:
        if self.raw.in_transaction:
            self.raw.execute("ROLLBACK")


class Job:
    """Work in a transaction, its outcome, and the future that waits for it."""

    __slots__ = ("_work", "error", "future", "loop", "outbox", "result", "trace")

    def __init__(self, work: Callable[[Tx], object]) -> None:
        self._work = work
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[object] = self.loop.create_future()
        self.result: object = None
        self.error: BaseException | None = None
        self.outbox: list[object] = []
        # Here, since the writer has its own thread.
        self.trace = telemetry.here() if telemetry.listener is not None else None

    def run(self, connection: Connection) -> bool:
        tx = connection.tx(self.trace)
        self.error = None
        try:
            self.result = self._work(tx)
            self.outbox = tx.leaving()
        except BaseException as error:
            self.error = error
            return False
        return True

    def run_in_savepoint(self, connection: Connection) -> None:
        """A failed job is rolled back without the others of its batch."""
        connection.raw.execute("SAVEPOINT job")
        if not self.run(connection):
            connection.raw.execute("ROLLBACK TO job")
        connection.raw.execute("RELEASE job")


def _stopping() -> Unavailable:
    return Unavailable("shutting_down", "Majlis is shutting down. Try again in a moment.")


def resolve(jobs: list[Job], error: BaseException | None, after_commit: AfterCommit) -> None:
    """`error` is the batch's. The outbox leaves before the callers continue."""
    outbox = [item for job in jobs for item in job.outbox] if error is None else []
    if outbox:
        after_commit(outbox)
    for job in jobs:
        if job.future.cancelled():
            continue
        if failure := error or job.error:
            job.future.set_exception(failure)
        else:
            job.future.set_result(job.result)


def _resolve_in_loop(jobs: list[Job], error: BaseException | None, after_commit: AfterCommit) -> None:
    try:
        jobs[0].loop.call_soon_threadsafe(resolve, jobs, error, after_commit)
    except RuntimeError:
        # The event loop has ended; nothing waits for the result.
        return


def _use_write_ahead_log(raw: sqlite3.Connection) -> None:
    """Needed once per file. SQLite does not wait for other connections here, so this retries."""
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


def load_json(stored: str | float) -> Any:
    """A JSON column has numeric affinity in SQLite, which stores a single number as a number instead of text."""
    return stored if isinstance(stored, int | float) else orjson.loads(stored)
