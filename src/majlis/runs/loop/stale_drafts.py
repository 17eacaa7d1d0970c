"""Notices that the message which a model is writing has become stale (E8), so that people do not see it. This
is a hint: the transaction that posts decides (`spaces/stale.py`) and holds the message (`calls/held_message.py`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import orjson
import structlog

from majlis.runs.engine import Engine
from majlis.runs.run import Run
from majlis.spaces.stale import newest_relevant
from majlis.store.transactions import Tx

_logger = structlog.get_logger(__name__)


class StaleDrafts:
    """`tell` is called as soon as the run's next message would be held."""

    def __init__(self, engine: Engine, run: Run, tell: Callable[[], None]) -> None:
        self._engine = engine
        self._run = run
        self._tell = tell
        self._tasks: set[asyncio.Task[None]] = set()

    def hear(self, space_id: str, payload: bytes) -> None:
        """An event from the bus."""
        event = orjson.loads(payload)
        if event["t"] != space_id or event["k"] != "space.message":
            return
        message = orjson.loads(event["d"])["message"]
        guard = self._run.guard(space_id)
        if guard is None or not guard.holds or message["seq"] <= guard.seen or message["kind"] != "text":
            return
        if message["sender"]["type"] == "human":
            self._tell()
            return
        # Only the database knows its cause.
        task = asyncio.create_task(self._look(space_id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _look(self, space_id: str) -> None:
        try:
            stale = await self._engine.db.read(_is_stale, self._run, space_id)
        except Exception as error:
            _logger.debug("could not look for new messages", error=type(error).__name__)
            return
        if stale and self._run.active_space_id == space_id:
            self._tell()


def _is_stale(tx: Tx, run: Run, space_id: str) -> bool:
    guard = run.guard(space_id)
    return guard is not None and guard.holds and newest_relevant(tx, space_id, guard) is not None
