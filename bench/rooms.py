"""Where the time of a run goes: a profile of every thread, summed by folder of `majlis` and by library.

A profile slows down what makes many calls, so the shares are a hint. Times are of the processor: waiting is not in it.
"""

from __future__ import annotations

import cProfile
import pstats
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from rich.table import Table

from bench.gateways import new_runner, open_office
from bench.models import TalkingModel
from bench.stage import Stage
from bench.throughput import AGENTS, Crowd

_MESSAGES = 100
# In a built-in's name: whose it is.
_BUILT_IN = {"sqlite3": "sqlite3", "orjson": "json", "zlib": "zlib", "_queue": "threads", "_thread": "threads"}
_LIBRARIES = ("sqlalchemy", "psycopg", "opentelemetry", "prometheus_client", "pydantic", "structlog", "uvloop")
_THREADS = ("threading.py", "queue.py", "concurrent/futures")


def profile(stage: Stage) -> Table:
    each = _unprofiled(stage)
    with _profiled_threads() as profiles, _crowd(stage) as crowd:
        for one in profiles:
            one.clear()
        with _profiling(profiles):
            crowd.times(_MESSAGES)
    return _table(stage, profiles, each)


@contextmanager
def _crowd(stage: Stage) -> Iterator[Crowd]:
    with new_runner() as runner, open_office(stage, runner, stage.fresh(), TalkingModel(), AGENTS) as office:
        crowd = Crowd(runner, office)
        crowd.times(_MESSAGES)
        yield crowd


def _unprofiled(stage: Stage) -> float:
    """Processor seconds per run without a profiler. The shares are shares of this."""
    with _crowd(stage) as crowd:
        before = time.process_time()
        crowd.times(_MESSAGES)
        return (time.process_time() - before) / (_MESSAGES * AGENTS)


def _table(stage: Stage, profiles: list[cProfile.Profile], each: float) -> Table:
    spent: Counter[str] = Counter()
    for one in profiles:
        for place, (_, _, own, _, _) in _stats(one).items():
            spent[_room(*place)] += own
    whole = sum(spent.values())
    table = Table("room", title=f"{stage.engine}: where the {each * 1e6:.0f} µs of the processor for a run go")
    table.add_column("share", justify="right")
    table.add_column("µs a run", justify="right")
    for room, seconds in spent.most_common():
        table.add_row(room, f"{seconds / whole:.1%}", f"{seconds / whole * each * 1e6:.0f}")
    return table


def _stats(of: cProfile.Profile) -> dict[tuple[str, int, str], Any]:
    try:
        return pstats.Stats(of).stats  # type: ignore[attr-defined, no-any-return]
    except TypeError:  # a thread that did nothing meanwhile
        return {}


def _room(file: str, line: int, name: str) -> str:
    if file == "~":
        return next((room for mark, room in _BUILT_IN.items() if mark in name), "Python itself")
    if "/majlis/" in file:
        return file.rpartition("/majlis/")[2].removesuffix(".py").partition("/")[0]
    library = next((name for name in _LIBRARIES if f"/{name}/" in file), None)
    if library is not None:
        return library
    if any(mark in file for mark in _THREADS):
        return "threads"
    return "asyncio" if "/asyncio/" in file else "Python itself"


@contextmanager
def _profiled_threads() -> Iterator[list[cProfile.Profile]]:
    """Threads that begin meanwhile have a profile each."""
    profiles: list[cProfile.Profile] = []
    usual = threading.Thread.run

    def run(thread: threading.Thread) -> None:
        with _profiling(profiles):
            usual(thread)

    with mock.patch.object(threading.Thread, "run", run):
        yield profiles


@contextmanager
def _profiling(profiles: list[cProfile.Profile]) -> Iterator[None]:
    mine = cProfile.Profile(time.thread_time)
    profiles.append(mine)
    mine.enable()
    try:
        yield
    finally:
        mine.disable()
