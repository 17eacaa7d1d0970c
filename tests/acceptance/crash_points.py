"""Crash points in a worker: around every commit of the run engine, and around every external effect.

Only active in a forked worker. Each point increments a counter. At the chosen number the process kills itself, or the
run stays there until the worker is stopped.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from pathlib import Path
from typing import Any

from majlis.gateway import Gateway
from majlis.runs.claim.capacity import ClaimedRuns

_lock = threading.Lock()
_die_at = 0
_stay_after = ""
_reached = 0
_names: Path | None = None


def arm(gateway: Gateway, die_at: int, stay_after: str, names: Path) -> None:
    """Kills the process at point number `die_at`, and stays after the first commit of the write `stay_after`. The file
    `names` gets a line for each point reached."""
    global _die_at, _stay_after, _names
    _die_at, _stay_after, _names = die_at, stay_after, names
    _guard_writes(gateway)
    tell = gateway.hub.publish

    def publish(outbox: Any) -> None:
        reach("committed, nobody told")
        tell(outbox)

    gateway.hub.publish = publish  # type: ignore[method-assign] # a place to die before the real one


def reach(name: str) -> None:
    global _reached
    if _names is None:
        return
    with _lock:
        _reached += 1
        with _names.open("a") as file:
            file.write(f"{name}\n")
        if _reached == _die_at:
            os.kill(os.getpid(), signal.SIGKILL)


def _guard_writes(gateway: Gateway) -> None:
    write = gateway.engine.write_then

    async def deadly_write(after: Any, work: Any, /, *args: Any, **kwargs: Any) -> Any:
        name = work.__name__.strip("_")

        def deadly_work(tx: Any, /, *args: Any, **kwargs: Any) -> Any:
            result = work(tx, *args, **kwargs)
            if _changed_something(result):
                reach(f"{name}: before its commit")
            return result

        result = await write(after, deadly_work, *args, **kwargs)
        if _changed_something(result):
            reach(f"{name}: after its commit")
            if name == _stay_after:
                await asyncio.Event().wait()
        return result

    # All writes of the engine go through this function.
    gateway.engine.write_then = deadly_write  # type: ignore[method-assign] # places to die around the real one


def _changed_something(result: object) -> bool:
    """A look that finds no work is not a crash point: their number depends on timing."""
    return not isinstance(result, ClaimedRuns) or bool(result.runs)
