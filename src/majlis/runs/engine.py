"""The parts that all runs of a process share: database, models, tools, parsed configs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Concatenate, Protocol

import sqlalchemy as sa

from majlis.agents.config.config import AgentConfig, parse_config
from majlis.agents.config.model import ModelChoice
from majlis.models.port import Model
from majlis.runs.calls.tool_port import Toolbox
from majlis.runs.loop.deltas import Channel
from majlis.store.tables import agents
from majlis.store.transactions import Database, P, T, Tx

_CONFIGS = 2000
_MAX_INTERRUPTIONS = 20


class ModelSource(Protocol):
    def get(self, choice: ModelChoice) -> Model: ...


class Configs:
    """Parsed configs by agent and version: parsing a large one takes milliseconds, and every run needs it."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._parsed: dict[str, tuple[int, AgentConfig]] = {}

    def known(self, agent_id: str, version: int) -> AgentConfig | None:
        found = self._parsed.get(agent_id)
        return found[1] if found is not None and found[0] == version else None

    async def get(self, agent_id: str, version: int) -> AgentConfig:
        known = self.known(agent_id, version)
        if known is not None:
            return known
        version, raw = await self._db.read(_load, agent_id)
        config = await asyncio.to_thread(parse_config, raw)
        self._parsed.pop(agent_id, None)
        self._parsed[agent_id] = (version, config)
        if len(self._parsed) > _CONFIGS:
            del self._parsed[next(iter(self._parsed))]
        return config


@dataclass
class Engine:
    db: Database
    channel: Channel
    models: ModelSource
    toolbox: Toolbox
    configs: Configs
    # Delays between tries of one model request.
    retry_seconds: tuple[float, ...] = (0.5, 1.5)
    # By run: how often the database has interrupted it here. The oldest are forgotten.
    _interrupted: dict[str, int] = field(default_factory=dict)

    def may_interrupt(self, run_id: str) -> bool:
        """False for a run that is interrupted again and again: then something else is wrong, and it has to fail."""
        count = self._interrupted.pop(run_id, 0) + 1
        self._interrupted[run_id] = count
        if len(self._interrupted) > _CONFIGS:
            del self._interrupted[next(iter(self._interrupted))]
        return count <= _MAX_INTERRUPTIONS

    async def write(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Finishes even if cancelled; cancellation is re-raised afterwards."""
        return await self.write_then(lambda _: None, work, *args, **kwargs)

    async def write_then(
        self, after: Callable[[T], None], work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Calls `after` with the result once it has committed, even if cancelled meanwhile."""
        writing = self.db.write_brief(work, *args, **kwargs)
        try:
            return await unbroken(writing)
        finally:
            if writing.done() and not writing.cancelled() and writing.exception() is None:
                after(writing.result())


def _load(tx: Tx, agent_id: str) -> tuple[int, object]:
    row = tx.execute(sa.select(agents.c.version, agents.c.config).where(agents.c.id == agent_id)).one()
    return row.version, row.config


async def unbroken(work: asyncio.Future[T]) -> T:
    """Finishes even if cancelled; cancellation is re-raised afterwards."""
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        # There may be several cancellations: by the bus, by the worker's polling, by a shutdown.
        while not work.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([work])
        if not work.cancelled():
            work.exception()  # retrieved, so that asyncio does not warn
        raise
