"""Reads runs straight from the database, for tests that need to see everything, across processes."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from majlis.store.sqlite import SqliteDatabase
from majlis.store.tables import cycles, deliveries, messages, runs, steps
from majlis.store.transactions import Database, Tx
from tests.acceptance.workers import WorkerProcess
from tests.conditions import until

Rows = list[dict[str, Any]]


class Ledger:
    def __init__(self, db: Database) -> None:
        self.db = db

    async def runs(self, space: str | None = None) -> Rows:
        return await self._rows(sa.select(runs).order_by(runs.c.id), runs.c.trigger_space_id, space)

    async def ended(self) -> Rows:
        return await self._rows(sa.select(runs.c.id, runs.c.status), runs.c.status, "completed")

    async def steps(self, run: str) -> Rows:
        return await self._rows(sa.select(steps).order_by(steps.c.n), steps.c.run_id, run)

    async def deliveries(self, space: str | None = None) -> Rows:
        return await self._rows(sa.select(deliveries).order_by(deliveries.c.id), deliveries.c.space_id, space)

    async def messages(self, space: str) -> Rows:
        return await self._rows(sa.select(messages).order_by(messages.c.seq), messages.c.space_id, space)

    async def cycles(self, agent: str) -> Rows:
        return await self._rows(sa.select(cycles).order_by(cycles.c.n), cycles.c.agent_id, agent)

    async def texts(self, space: str) -> list[str]:
        return [message["text"] for message in await self.messages(space)]

    async def statuses(self, space: str | None = None) -> list[str]:
        return [run["status"] for run in await self.runs(space)]

    async def everything(self, space: str) -> tuple[Rows, Rows, Rows, list[Rows]]:
        """Without leases, which the worker of a run keeps renewing, and without deaths: a worker that wakes withdraws
        the one that was counted for it (G1)."""
        found = [{**run, "lease_until": None, "deaths": None} for run in await self.runs(space)]
        journal = [await self.steps(run["id"]) for run in found]
        return found, await self.messages(space), await self.deliveries(space), journal

    async def execute(self, statement: sa.Executable, parameters: Any = None) -> None:
        def work(tx: Tx) -> None:
            tx.execute(statement, parameters)

        await self.db.write(work)

    async def until_statuses(self, *expected: str, space: str | None = None) -> None:
        async def holds() -> bool:
            return await self.statuses(space) == list(expected)

        await until(holds)

    async def stop_between_writes(self, worker: WorkerProcess) -> None:
        """Sends SIGSTOP, but not while the worker holds SQLite's write lock: that would block every other process."""
        while True:
            worker.pause()
            if not isinstance(self.db, SqliteDatabase) or _is_free(self.db.path):
                return
            worker.go_on()

    async def _rows(self, statement: sa.Select[Any], column: sa.ColumnElement[Any], value: str | None) -> Rows:
        narrowed = statement if value is None else statement.where(column == value)
        return await self.db.read(lambda tx: [dict(row) for row in tx.execute(narrowed).mappings()])


def _is_free(file: Path) -> bool:
    with contextlib.closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as raw:
        try:
            raw.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        raw.execute("ROLLBACK")
        return True
