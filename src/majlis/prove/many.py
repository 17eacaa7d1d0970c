"""Runs many schedules in several processes. Imports little, because the processes import the rest."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from majlis.errors import MajlisError

# By name: what is checked after each schedule (promises.py has the checks).
PROMISES = {
    "posted once": "a message is stored once, however often it is sent",
    "answered once": "every agent that a message triggers answers it once",
    "delivered once": "a delivery is settled once, by one run",
    "runs end once": "runs, waits and cards end once; each claim has its own fence",
    "waits keep answers": "a question is asked once, and its outcome is kept",
    "effects once": "no effect outside happens twice",
    "plans fire once": "a plan fires once per due time",
    "cursors follow": "a cursor never goes back, and moves only with a completed run",
    "numbers whole": "messages, events and steps are numbered without holes",
    "streams whole": "a stream has every event once, in order, and only committed ones",
    "limits hold": "an agent never has more runs at work than its limit",
    "held briefly": "a message is held twice at most, then it is marked",
    "nothing stuck": "everything ends once the faults are over",
    "no crash": "no exception escapes",
}
# A line with the trace of a long schedule.
_LINE_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Outcome:
    seed: int
    # "promise: what was found".
    broken: list[str]
    counts: dict[str, int]
    trace: list[str]


async def run_schedules(first: int, count: int, jobs: int, traced: bool, each: Callable[[Outcome], None]) -> None:
    """Calls `each` with every outcome, in no particular order."""
    jobs = min(jobs, count)
    shares = [(first + n, len(range(n, count, jobs))) for n in range(jobs)]
    processes = [await _start(start, share, jobs, traced) for start, share in shares]
    try:
        await asyncio.gather(*(_read(process, each) for process in processes))
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def _start(first: int, count: int, step: int, traced: bool) -> asyncio.subprocess.Process:
    arguments = [str(first), str(count), str(step), "traced" if traced else "plain"]
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "majlis.prove", *arguments,
        stdout=asyncio.subprocess.PIPE,
        limit=_LINE_BYTES,
        # The order of sets of texts depends on it.
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )  # fmt: skip


async def _read(process: asyncio.subprocess.Process, each: Callable[[Outcome], None]) -> None:
    assert process.stdout is not None
    async for line in process.stdout:
        found: dict[str, Any] = json.loads(line)
        each(Outcome(**found))
    if await process.wait():
        raise MajlisError("simulation_died", f"A process of the simulation ended with code {process.returncode}.")
