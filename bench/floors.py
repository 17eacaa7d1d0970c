"""The floor: the rows of one posted message, written with the driver alone, in one transaction."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import asyncpg
import uvloop

from bench.results import Engine
from bench.scenes import Scene
from bench.stage import sqlite_path
from bench.words import sentences
from majlis.store.sqlite import _PRAGMAS

_NUMBER = """UPDATE spaces SET head_seq = head_seq + 1, event_seq = event_seq + 1, event_at = ?
    WHERE id = ? AND deleted_at IS NULL RETURNING head_seq, event_seq, triggers, orchestrator_id"""
_MOVE = "UPDATE members SET seen_seq = ? WHERE space_id = ? AND entity_id = ? RETURNING role"
_MESSAGE = """INSERT INTO messages (id, space_id, seq, sender_id, kind, text, tool, reply_to, mentions, origin, run_id,
    chain_depth, caused_by, client_id, stream_id, session_id, created_at)
    VALUES (?, ?, ?, ?, 'text', ?, NULL, NULL, NULL, NULL, NULL, 0, ?, ?, NULL, NULL, ?)
    ON CONFLICT DO NOTHING RETURNING n"""
_EVENT = "INSERT INTO events (topic, seq, type, data, at) VALUES (?, ?, 'space.message', ?, ?)"
# As long as the JSON of a real event around its text.
_FRAME = '{"type":"space.message","spaceId":"","message":{' + "x" * 340 + '"text":"%s"}}'


class Floor(Protocol):
    def write(self, count: int) -> list[float]:
        """Writes this many messages, one after the other. Returns the seconds of each."""
        ...

    def write_at_once(self, count: int, clients: int) -> float:
        """Seconds per message when this many clients write, each in a space of its own."""
        ...


@contextmanager
def open_floor(engine: Engine, scene: Scene, url: str, synchronous: str = "FULL") -> Iterator[Floor]:
    if engine == "sqlite":
        connection = sqlite3.connect(sqlite_path(url), isolation_level=None)
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        connection.execute(f"PRAGMA synchronous={synchronous}")
        yield SqliteFloor(connection, scene)
        connection.close()
    else:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            floor = PostgresFloor(runner, scene, url)
            yield floor
            floor.close()


class SqliteFloor:
    def __init__(self, connection: sqlite3.Connection, scene: Scene) -> None:
        self._execute = connection.execute
        self._rows = _rows(scene)
        self._space = scene.spaces[0]

    def write(self, count: int) -> list[float]:
        return [self._one(self._space) for _ in range(count)]

    def write_at_once(self, count: int, clients: int) -> float:
        """SQLite has one writer: clients wait in line, so the best they can do is one after the other."""
        return sum(self.write(count)) / count

    def _one(self, space: str) -> float:
        message, sender, text, at = next(self._rows)
        execute = self._execute
        started = time.perf_counter()
        execute("BEGIN IMMEDIATE")
        seq, event_seq, *_ = execute(_NUMBER, (at, space)).fetchone()
        execute(_MOVE, (seq, space, sender)).fetchone()
        execute(_MESSAGE, (message, space, seq, sender, text, message, f"c{message}", at)).fetchone()
        execute(_EVENT, (space, event_seq, _FRAME % text, at))
        execute("COMMIT")
        return time.perf_counter() - started


class PostgresFloor:
    def __init__(self, runner: asyncio.Runner, scene: Scene, url: str) -> None:
        self._runner = runner
        self._url = url
        self._rows = _rows(scene)
        self._spaces = scene.spaces
        self._connections: list[Any] = []

    def write(self, count: int) -> list[float]:
        return self._runner.run(self._write(0, count))

    def write_at_once(self, count: int, clients: int) -> float:
        return self._runner.run(self._write_at_once(count, clients))

    def close(self) -> None:
        for connection in self._connections:
            self._runner.run(connection.close())

    async def _write_at_once(self, count: int, clients: int) -> float:
        await self._connect(clients)
        started = time.perf_counter()
        await asyncio.gather(*(self._write(client, count // clients) for client in range(clients)))
        return (time.perf_counter() - started) / count

    async def _write(self, client: int, count: int) -> list[float]:
        await self._connect(client + 1)
        return [await self._one(self._connections[client], self._spaces[client]) for _ in range(count)]

    async def _connect(self, clients: int) -> None:
        while len(self._connections) < clients:
            self._connections.append(await asyncpg.connect(self._url))

    async def _one(self, connection: Any, space: str) -> float:
        message, sender, text, at = next(self._rows)
        started = time.perf_counter()
        async with connection.transaction():
            seq, event_seq, *_ = await connection.fetchrow(_POSTGRES_NUMBER, at, space)
            await connection.fetchval(_POSTGRES_MOVE, seq, space, sender)
            await connection.fetchval(_POSTGRES_MESSAGE, message, space, seq, sender, text, message, f"c{message}", at)
            await connection.execute(_POSTGRES_EVENT, space, event_seq, _FRAME % text, at)
        return time.perf_counter() - started


def _rows(scene: Scene) -> Iterator[tuple[str, str, str, int]]:
    """Id, sender, text and time of one message after the other."""
    sender = scene.people[0].id
    for number, text in zip(itertools.count(1), sentences(), strict=False):
        yield f"msg_f{number:015d}", sender, text, time.time_ns() // 1_000_000


def numbered(statement: str) -> str:
    numbers = itertools.count(1)
    return "".join(f"${next(numbers)}" if part == "?" else part for part in statement)


_POSTGRES_NUMBER = numbered(_NUMBER)
_POSTGRES_MOVE = numbered(_MOVE)
_POSTGRES_MESSAGE = numbered(_MESSAGE)
_POSTGRES_EVENT = numbered(_EVENT)
