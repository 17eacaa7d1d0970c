"""The floor of runs: the rows that messages and the runs they start leave behind, written with the driver alone.

Per message a post with a delivery for each agent; per run three transactions, as a run has them: it is claimed, it
sends its message, it ends. On PostgreSQL as many connections as Majlis has do the runs of all messages at once.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from typing import Any, Protocol

import asyncpg
import uvloop

from bench.floors import numbered
from bench.results import Engine
from bench.stage import sqlite_path
from majlis.store.sqlite import _PRAGMAS

_CONNECTIONS = 20
_TEXT = "I have looked at it: the figures agree with last week's, and I will tell you when they change."
_JSON = '{"text":"' + "x" * 300 + '"}'
_EVENT = '{"type":"space.message","spaceId":"","message":{' + "x" * 340 + "}}"
_VIEW = os.urandom(1500)

_POST = (
    "UPDATE spaces SET head_seq = head_seq + 1, event_seq = event_seq + 1 WHERE id = ? RETURNING head_seq, event_seq"
)
_RECORD = "UPDATE spaces SET event_seq = event_seq + 2 WHERE id = ? RETURNING event_seq, event_seq - 1"
_SEEN = "UPDATE members SET seen_seq = ?, processed_seq = ? WHERE space_id = ? AND entity_id = ?"
_MESSAGE = """INSERT INTO messages (id, space_id, seq, sender_id, kind, text, chain_depth, caused_by, created_at)
    VALUES (?, ?, ?, ?, 'text', ?, 0, ?, ?)"""
_LOG = "INSERT INTO events (topic, seq, type, data, at) VALUES (?, ?, 'space.message', ?, ?)"
_DELIVERY = """INSERT INTO deliveries (id, agent_id, event_id, type, space_id, message_id, seq, payload, created_at)
    VALUES (?, ?, ?, 'space_message', ?, ?, ?, ?, ?)"""
_TAKE = "UPDATE deliveries SET state = ?, run_id = ? WHERE id = ?"
_RUN = """INSERT INTO runs (id, agent_id, status, trigger, trigger_space_id, active_space_id, fence, lease_until,
    created_at, started_at) VALUES (?, ?, 'running', ?, ?, ?, 1, ?, ?, ?)"""
_HOLD = "UPDATE runs SET status = ?, ended_at = ?, shown = ?, requests = requests + 1 WHERE id = ? AND fence = 1"
_STEP = """INSERT INTO steps (run_id, n, kind, state, output, started_at, ended_at) VALUES (?, ?, ?, 'done', ?, ?, ?)"""
_VIEWED = "INSERT INTO views (run_id, step, body, created_at) VALUES (?, ?, ?, ?)"


class RunFloor(Protocol):
    def times(self, messages: int) -> list[float]:
        """A `Sampler` that has one sample for all of them."""
        ...


@contextmanager
def open_run_floor(
    engine: Engine, url: str, person: str, spaces: Sequence[str], agents: Sequence[str]
) -> Iterator[RunFloor]:
    """On a copy of the database of our side."""
    work = _Work(person, itertools.cycle(spaces), agents)
    if engine == "sqlite":
        with closing(sqlite3.connect(sqlite_path(url), isolation_level=None)) as db:
            for pragma in _PRAGMAS:
                db.execute(pragma)
            yield _Sqlite(db, work)
    else:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            connections = runner.run(_connect(url))
            yield _Postgres(runner, connections, work)
            runner.run(_close(connections))


class _Work:
    """Transactions as lists of statements. A function stands for one whose parameters depend on the first row."""

    def __init__(self, person: str, spaces: Iterator[str], agents: Sequence[str]) -> None:
        self._person, self._spaces, self._agents = person, spaces, agents
        self._ids = itertools.count(1)

    def message(self) -> tuple[list[Any], list[list[list[Any]]]]:
        """The post, and for each run its transactions."""
        space, message, now = next(self._spaces), self._id("msg"), time.time_ns() // 1_000_000
        deliveries = [self._id("dlv") for _ in self._agents]
        post = [
            *self._posted(space, message, self._person, now),
            *(
                (_DELIVERY, (delivery, agent, message, space, message, 1, "{}", now))
                for delivery, agent in zip(deliveries, self._agents, strict=True)
            ),
        ]
        return post, [self._run(space, *each, now) for each in zip(deliveries, self._agents, strict=True)]

    def _run(self, space: str, delivery: str, agent: str, now: int) -> list[list[Any]]:
        run, answer = self._id("run"), self._id("msg")
        claim = [
            (_RECORD, (space,)),
            lambda row: (_LOG, (space, row[0], _EVENT, now)),
            lambda row: (_LOG, (space, row[1], _EVENT, now)),
            (_RUN, (run, agent, _JSON, space, space, now, now, now)),
            (_TAKE, ("taken", run, delivery)),
        ]
        send = [
            *self._posted(space, answer, agent, now),
            (_STEP, (run, 0, "model", _JSON, now, now)),
            (_STEP, (run, 1, "tool", _JSON, now, now)),
            (_VIEWED, (run, 0, _VIEW, now)),
            (_HOLD, ("running", None, _JSON, run)),
        ]
        settle = [
            (_RECORD, (space,)),
            lambda row: (_LOG, (space, row[0], _EVENT, now)),
            lambda row: (_LOG, (space, row[1], _EVENT, now)),
            (_TAKE, ("done", run, delivery)),
            (_STEP, (run, 2, "model", _JSON, now, now)),
            (_VIEWED, (run, 2, _VIEW, now)),
            (_HOLD, ("completed", now, _JSON, run)),
        ]
        return [claim, send, settle]

    def _posted(self, space: str, message: str, sender: str, now: int) -> list[Any]:
        return [
            (_POST, (space,)),
            lambda row: (_SEEN, (row[0], row[0], space, sender)),
            lambda row: (_MESSAGE, (message, space, row[0], sender, _TEXT, message, now)),
            lambda row: (_LOG, (space, row[1], _EVENT, now)),
        ]

    def _id(self, kind: str) -> str:
        return f"{kind}_f{next(self._ids):015d}"


class _Sqlite:
    def __init__(self, db: sqlite3.Connection, work: _Work) -> None:
        self._db = db
        self._work = work

    def times(self, messages: int) -> list[float]:
        started = time.perf_counter()
        for _ in range(messages):
            post, runs = self._work.message()
            for transaction in (post, *(each for run in runs for each in run)):
                self._commit(transaction)
        return [time.perf_counter() - started]

    def _commit(self, transaction: list[Any]) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        first = self._db.execute(*transaction[0]).fetchone()
        for step in transaction[1:]:
            self._db.execute(*(step(first) if callable(step) else step))
        self._db.execute("COMMIT")


class _Postgres:
    def __init__(self, runner: asyncio.Runner, connections: list[Any], work: _Work) -> None:
        self._runner = runner
        self._connections = connections
        self._work = work

    def times(self, messages: int) -> list[float]:
        return [self._runner.run(self._all(messages))]

    async def _all(self, messages: int) -> float:
        started = time.perf_counter()
        runs: asyncio.Queue[list[list[Any]]] = asyncio.Queue()
        poster, *others = self._connections
        async with asyncio.TaskGroup() as group:
            workers = [group.create_task(self._work_off(each, runs)) for each in others]
            for _ in range(messages):
                post, started_runs = self._work.message()
                await _commit(poster, post)
                for run in started_runs:
                    runs.put_nowait(run)
            await runs.join()
            for worker in workers:
                worker.cancel()
        return time.perf_counter() - started

    async def _work_off(self, connection: Any, runs: asyncio.Queue[list[list[Any]]]) -> None:
        while True:
            for transaction in await runs.get():
                await _commit(connection, transaction)
            runs.task_done()


async def _commit(connection: Any, transaction: list[Any]) -> None:
    async with connection.transaction():
        text, given = transaction[0]
        first = await connection.fetchrow(_numbered(text), *given)
        for step in transaction[1:]:
            text, given = step(first) if callable(step) else step
            await connection.execute(_numbered(text), *given)


_numbered = cache(numbered)


async def _connect(url: str) -> list[Any]:
    return [await asyncpg.connect(url) for _ in range(_CONNECTIONS)]


async def _close(connections: list[Any]) -> None:
    for each in connections:
        await each.close()
