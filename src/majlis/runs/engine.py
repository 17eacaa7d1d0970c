"""The parts that all runs of a process share: database, models, tools, parsed configs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Concatenate, Protocol

import sqlalchemy as sa

from majlis import clock
from majlis.agents.config.config import AgentConfig, parse_config
from majlis.agents.config.model import DEMO, ModelChoice
from majlis.files.reader import Reader
from majlis.files.upload import Uploads
from majlis.models.catalog import Prices
from majlis.models.port import Context, Model
from majlis.runs.budget.check import Budgets
from majlis.runs.calls.tool_port import Toolbox
from majlis.runs.loop.deltas import Channel
from majlis.store.tables import agents
from majlis.store.transactions import Database, P, T, Tx

_CONFIGS = 2000
_MAX_INTERRUPTIONS = 20
_DAY = 86_400_000
_MAX_DENSITY = 3.0


class ModelSource(Protocol):
    def get(self, choice: ModelChoice) -> Model: ...

    async def context(self, choice: ModelChoice) -> Context: ...


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
    files: Reader
    uploads: Uploads
    prices: Prices = field(default_factory=Prices)
    budgets: Budgets = field(default_factory=Budgets)
    # Told about blocks of messages without a summary when a run has ended (F3).
    summarise: Callable[[Iterable[tuple[str, int]]], None] = lambda _: None
    # Delays between tries of one model request.
    retry_seconds: tuple[float, ...] = (0.5, 1.5)
    # By model: until when its text is posted, because its provider refused tools (E10).
    _without_tools: dict[str, int] = field(default_factory=dict)
    # By model: until when it is shown no pictures, because its provider refused them (L5).
    _blind: dict[str, int] = field(default_factory=dict)
    # By model: how many of its tokens an estimated one takes.
    _densities: dict[str, float] = field(default_factory=dict)
    # By run: how many times the database has interrupted it here. The oldest are forgotten.
    _interrupted: dict[str, int] = field(default_factory=dict)

    def may_interrupt(self, run_id: str) -> bool:
        """False for a run that is interrupted again and again: then something else is wrong, and it has to fail."""
        count = self._interrupted.pop(run_id, 0) + 1
        self._interrupted[run_id] = count
        if len(self._interrupted) > _CONFIGS:
            del self._interrupted[next(iter(self._interrupted))]
        return count <= _MAX_INTERRUPTIONS

    def calls_tools(self, choice: ModelChoice) -> bool:
        return self._without_tools.get(repr(choice), 0) < clock.now()

    def remember_without_tools(self, choice: ModelChoice) -> None:
        """For a day: the provider's server may be set up differently then."""
        self._without_tools[repr(choice)] = clock.now() + _DAY
        if len(self._without_tools) > _CONFIGS:
            del self._without_tools[next(iter(self._without_tools))]

    def sees(self, config: AgentConfig) -> bool:
        if config.vision is not None or config.model == DEMO:
            return config.vision is True
        return self._blind.get(repr(config.model), 0) < clock.now()

    def remember_blind(self, choice: ModelChoice) -> None:
        self._blind[repr(choice)] = clock.now() + _DAY
        if len(self._blind) > _CONFIGS:
            del self._blind[next(iter(self._blind))]

    def density(self, choice: ModelChoice) -> float:
        return self._densities.get(repr(choice), 1.0)

    def remember_density(self, choice: ModelChoice, density: float) -> None:
        """Follows rises at once and falls slowly, so that a prompt in a denser script fits too. A density above the
        maximum cannot come from a tokenizer."""
        if density > _MAX_DENSITY:
            return
        self._densities[repr(choice)] = max(1.0, density, (9 * self.density(choice) + density) / 10)
        if len(self._densities) > _CONFIGS:
            del self._densities[next(iter(self._densities))]

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
