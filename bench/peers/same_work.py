"""The work that every peer does, as `bench/throughput.py` does it: a person posts messages without waiting for answers,
and each of three agents answers each of them.

A peer that keeps an agent's conversation has its agents at work side by side, and each answers its messages in order.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Protocol

import psycopg
import psycopg_pool  # type: ignore[import-not-found]
import uvloop

AGENTS = 3
# How many messages of the conversation a request to the model has.
WINDOW = 50
# As many runs at once as three of our agents have.
CONCURRENT = 15
TEXT = "I have looked at it: the figures agree with last week's, and I will tell you when they change."

_TABLE = "CREATE TABLE messages (n {key}, sender TEXT NOT NULL, text TEXT NOT NULL, created_at {time})"
SQLITE_TABLE = _TABLE.format(key="INTEGER PRIMARY KEY", time="REAL")
_SQLITE_ADD = "INSERT INTO messages (sender, text, created_at) VALUES (?, ?, ?)"
POSTGRES_TABLE = _TABLE.format(key="bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", time="double precision")
POSTGRES_ADD = "INSERT INTO messages (sender, text, created_at) VALUES (%s, %s, %s)"
LATEST = f"SELECT sender, text FROM messages ORDER BY n DESC LIMIT {WINDOW}"


class Messages(Protocol):
    """Where messages are kept, as durably as ours: a commit each."""

    async def add(self, sender: str, text: str) -> None: ...

    def add_now(self, sender: str, text: str) -> None: ...


class SqliteMessages:
    """With a write-ahead log and full flushes, as ours."""

    def __init__(self, file: Path) -> None:
        self._db = sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=30)
        turn_on_wal(file)
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute(SQLITE_TABLE)

    async def add(self, sender: str, text: str) -> None:
        self.add_now(sender, text)

    def add_now(self, sender: str, text: str) -> None:
        self._db.execute(_SQLITE_ADD, (sender, text, time.time()))


class PostgresMessages:
    def __init__(self, connection: Any, pool: Any) -> None:
        self._connection = connection
        self._pool = pool

    async def add(self, sender: str, text: str) -> None:
        async with self._pool.connection() as connection:
            await connection.execute(POSTGRES_ADD, (sender, text, time.time()))

    def add_now(self, sender: str, text: str) -> None:
        self._connection.execute(POSTGRES_ADD, (sender, text, time.time()))


@asynccontextmanager
async def open_messages(place: str) -> AsyncIterator[Messages]:
    """In a new table: `place` is the URL of a database on PostgreSQL, or a folder."""
    if not is_postgres(place):
        yield SqliteMessages(Path(place) / "messages.db")
        return
    options: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0}
    with psycopg.connect(place, **options) as connection:
        connection.execute(POSTGRES_TABLE)
        async with psycopg_pool.AsyncConnectionPool(place, kwargs=options, min_size=4, max_size=4) as pool:
            yield PostgresMessages(connection, pool)


def turn_on_wal(file: Path) -> None:
    """For all connections to the file."""
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA journal_mode=WAL")


def is_postgres(place: str) -> bool:
    return place.startswith("postgresql://")


def texts() -> Iterator[str]:
    number = 0
    while True:
        number += 1
        yield f"message {number}: what do you all think of the figures of this week?"


Talk = Callable[[int], Awaitable[object]]


async def serve(talk: Talk) -> None:
    """A line says how many messages; what comes back is how long all of their runs took."""
    print("[]", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        started = time.perf_counter()
        await talk(int(line))
        print(json.dumps([time.perf_counter() - started]), flush=True)


def side_by_side(messages: Messages, answer: Callable[[int, str], Awaitable[object]]) -> Talk:
    """`answer` gets the number of an agent and the text of a message, and returns when the run has ended."""
    said = texts()

    async def talk(count: int) -> None:
        queues: list[asyncio.Queue[str | None]] = [asyncio.Queue() for _ in range(AGENTS)]
        async with asyncio.TaskGroup() as group:
            for agent, queue in enumerate(queues):
                group.create_task(work_off(agent, queue))
            for _ in range(count):
                text = next(said)
                await messages.add("person", text)
                for queue in queues:
                    queue.put_nowait(text)
            for queue in queues:
                queue.put_nowait(None)

    async def work_off(agent: int, queue: asyncio.Queue[str | None]) -> None:
        while (text := await queue.get()) is not None:
            await answer(agent, text)

    return talk


def run(main: Coroutine[Any, Any, None]) -> None:
    """On the loop that `majlis serve` runs on."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main)
