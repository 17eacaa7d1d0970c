"""The floor of all durable work: one small row, inserted and committed with the driver alone, one after the other."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg

from bench.results import Engine
from bench.rounds import Sampler
from bench.stage import sqlite_path
from bench.words import sentences
from majlis.store.sqlite import _PRAGMAS

_TABLE = "CREATE TABLE bench_commits (n BIGINT PRIMARY KEY, text TEXT NOT NULL)"


@contextmanager
def durable_commits(engine: Engine, url: str, runner: asyncio.Runner) -> Iterator[Sampler]:
    """Uses the database of our side, with a table of its own."""
    with _sqlite(url) if engine == "sqlite" else _postgres(url, runner) as sampler:
        yield sampler


@contextmanager
def _sqlite(url: str) -> Iterator[Sampler]:
    db = sqlite3.connect(sqlite_path(url), isolation_level=None, timeout=30)
    for pragma in _PRAGMAS:
        db.execute(pragma)
    db.execute(_TABLE)
    rows = enumerate(sentences())

    def one() -> float:
        row = next(rows)
        started = time.perf_counter()
        db.execute("INSERT INTO bench_commits VALUES (?, ?)", row)
        return time.perf_counter() - started

    yield lambda count: [one() for _ in range(count)]
    db.close()


@contextmanager
def _postgres(url: str, runner: asyncio.Runner) -> Iterator[Sampler]:
    db = runner.run(asyncpg.connect(url))
    runner.run(db.execute(_TABLE))
    insert = runner.run(db.prepare("INSERT INTO bench_commits VALUES ($1, $2)"))
    rows = enumerate(sentences())

    async def write(count: int) -> list[float]:
        times = []
        for _ in range(count):
            row = next(rows)
            started = time.perf_counter()
            await insert.fetch(*row)
            times.append(time.perf_counter() - started)
        return times

    yield lambda count: runner.run(write(count))
    runner.run(db.close())
