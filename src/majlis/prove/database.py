"""SQLite as a simulated machine uses it: the writer's work runs in the simulated loop, and faults strike at commits.

Everything else is the product's own code. All machines use the same file over connections of their own, as processes
do. Transactions of different machines never overlap, because SQLite has one writer and a step is not interrupted.
"""

from __future__ import annotations

import queue
import random
import sqlite3
from collections import deque
from collections.abc import Callable
from typing import Any, Literal

import sqlalchemy as sa

from majlis.prove.changes import History
from majlis.prove.disk import Disk
from majlis.prove.event_loop import SimulatedLoop
from majlis.store.sqlite import Connection, Job, SqliteDatabase, resolve
from majlis.store.transactions import keep_inside

_WRITER_SECONDS = 0.002
_SLOW, _QUICK = 1.0, 0.0

Fault = Literal["none", "busy", "full", "killed before commit", "killed after commit"]


class Killed(BaseException):
    """The machine died in the middle of a step."""


class _Queue:
    """The writer's queue: a job runs a moment after it is put in."""

    def __init__(self, work_off: Callable[[], None]) -> None:
        self._jobs: deque[Job | None] = deque()
        self._work_off = work_off

    def put(self, job: Job | None) -> None:
        self._jobs.append(job)
        self._work_off()

    def get_nowait(self) -> Job | None:
        if not self._jobs:
            raise queue.Empty
        return self._jobs.popleft()

    def empty(self) -> bool:
        return not self._jobs


class SimulatedDatabase(SqliteDatabase):
    def __init__(
        self, name: str, disk: Disk, loop: SimulatedLoop, seed: str, history: History, strike: Callable[[], Fault]
    ) -> None:
        self._name = name
        self._simulated_loop = loop
        self._random = random.Random(seed)  # noqa: S311
        # Asked before every commit.
        self._strike = strike
        self._history = history
        self.on_kill: Callable[[], None] = lambda: None
        self._disk = disk
        super().__init__(disk.path)
        self._jobs: Any = _Queue(self._work_off_soon)
        self._flush_seconds = _QUICK if self._random.random() < 0.5 else _SLOW
        self._writer_connection: Connection | None = None

    def drop(self) -> None:
        """Ends the process: its connections close, and open transactions roll back."""
        self._closed = True
        for connection in self._connections:
            connection.rollback()
            self._disk.give_back(connection.conn)
        self._connections.clear()

    async def close(self) -> None:
        self.drop()

    def _create_engine(self) -> sa.Engine:
        return self._disk.engine

    def _open(self) -> Connection:
        connection = Connection(self._disk.connect(), self.hooks)
        self._connections.append(connection)
        return connection

    def _start_writer(self) -> None:
        """Starts nothing: the simulation has no threads."""

    def _work_off_soon(self) -> None:
        self._simulated_loop.call_later(self._random.random() * _WRITER_SECONDS, self._work_off)

    def _work_off(self) -> None:
        if self._closed or self._jobs.empty():
            return
        job = self._jobs.get_nowait()
        if job is None:
            return
        try:
            self._writer_connection = self._writer_connection or self._open()
            self._write_batch(self._writer_connection, job)
        except Exception as error:
            resolve([job], error, keep_inside)
        if not self._jobs.empty():
            self._work_off_soon()

    def _commit(self, connection: Connection) -> None:
        changes = self._history.read(self._name, connection.raw)
        fault = self._strike()
        if fault == "killed before commit":
            self._kill()
        if fault in ("busy", "full"):
            raise _passing(fault)
        connection.commit()
        self._history.add(changes)
        if fault == "killed after commit":
            self._kill()

    def _kill(self) -> None:
        self.on_kill()
        raise Killed


def _passing(fault: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("database or disk is full" if fault == "full" else "database is locked")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL if fault == "full" else sqlite3.SQLITE_BUSY
    return error
