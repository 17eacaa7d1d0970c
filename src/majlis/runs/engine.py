"""The parts that all runs of a process share: database, models, tools, parsed configs and what follows from them."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Concatenate, Protocol

import sqlalchemy as sa

from majlis import clock
from majlis.agents.config.config import AgentConfig, parse_config
from majlis.agents.config.model import DEMO, ModelChoice
from majlis.files.reader import Reader
from majlis.files.upload import Uploads
from majlis.models.port import UNLIMITED, Context, KnownContext, Model, ToolSpec
from majlis.models.sizes_and_prices import MIN_CONTEXT, Prices
from majlis.runs.budget.check import Budgets
from majlis.runs.calls.tool_port import Toolbox
from majlis.runs.loop.deltas import Channel
from majlis.runs.loop.room import Room, learned_limit
from majlis.runs.run import Run
from majlis.store.tables import agents
from majlis.store.transactions import Database, P, T, Tx

_CONFIGS = 2000
_MAX_INTERRUPTIONS = 20
_DAY = 86_400_000
_MAX_DENSITY = 3.0
_VIEWS_MILLIS = 3
_VIEWS_AT_ONCE = 4


class ModelSource(Protocol):
    def get(self, choice: ModelChoice) -> Model: ...

    async def context(self, choice: ModelChoice) -> KnownContext: ...


@dataclass(slots=True)
class _ModelInUse:
    """What this process knows about a model that its agents have."""

    model: Model
    context: KnownContext
    # How many of its tokens an estimated one takes.
    density: float = 1.0
    # Until when its text is posted, because its provider refused tools (E10).
    without_tools: int = 0
    # Until when it is shown no pictures, because its provider refused them (L5).
    blind: int = 0


@dataclass(frozen=True, slots=True)
class _Decided:
    """A room, and the facts that it was decided by."""

    config: AgentConfig
    by: tuple[Context, tuple[ToolSpec, ...], float]
    room: Room


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


class Pace:
    """Lets requests and streams pass between the views of many runs that begin at once. Making a view takes the event
    loop a millisecond or more."""

    def __init__(self) -> None:
        # By the clock that a simulation sets, so that its schedules can be replayed.
        self._began: clock.Millis | None = None
        self._goes_on = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def keep(self) -> None:
        """Returns at once, unless this iteration of the event loop has made views for a while."""
        while self._began is not None and clock.now() - self._began > _VIEWS_MILLIS:
            self._waiting.append(waiter := asyncio.get_running_loop().create_future())
            await waiter
        if self._began is None:
            self._began = clock.now()
            self._continue()

    def _continue(self) -> None:
        if not self._goes_on:
            self._goes_on = True
            asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        """Runs in the next iteration of the event loop, and in each one after it while views wait."""
        self._began, self._goes_on = None, False
        for _ in range(min(_VIEWS_AT_ONCE, len(self._waiting))):
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
        if self._waiting:
            self._continue()


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
    pace: Pace = field(default_factory=Pace)
    # Delays between tries of one model request.
    retry_seconds: tuple[float, ...] = (0.5, 1.5)
    _models: dict[str, _ModelInUse] = field(default_factory=dict)
    # The same by the identity of the choice.
    _chosen: dict[int, tuple[ModelChoice, _ModelInUse]] = field(default_factory=dict)
    # By the config's identity.
    _rooms: dict[int, _Decided] = field(default_factory=dict)
    # By run: how many times the database has interrupted it here. The oldest are forgotten.
    _interrupted: dict[str, int] = field(default_factory=dict)

    def may_interrupt(self, run_id: str) -> bool:
        """False for a run that is interrupted again and again: then something else is wrong, and it has to fail."""
        count = self._interrupted.pop(run_id, 0) + 1
        self._interrupted[run_id] = count
        if len(self._interrupted) > _CONFIGS:
            del self._interrupted[next(iter(self._interrupted))]
        return count <= _MAX_INTERRUPTIONS

    def model(self, choice: ModelChoice) -> Model:
        return self._in_use(choice).model

    def calls_tools(self, choice: ModelChoice) -> bool:
        return self._in_use(choice).without_tools < clock.now()

    def remember_without_tools(self, choice: ModelChoice) -> None:
        """Remembers it for a day. After that the provider's server may be set up differently."""
        self._in_use(choice).without_tools = clock.now() + _DAY

    def sees(self, config: AgentConfig) -> bool:
        if config.vision is not None or config.model == DEMO:
            return config.vision is True
        return self._in_use(config.model).blind < clock.now()

    def remember_blind(self, choice: ModelChoice) -> None:
        self._in_use(choice).blind = clock.now() + _DAY

    def remember_density(self, choice: ModelChoice, density: float) -> None:
        """Follows rises at once and falls slowly, so that a prompt in a denser script fits too. A density above the
        maximum cannot come from a tokenizer."""
        if density <= _MAX_DENSITY:
            used = self._in_use(choice)
            used.density = max(1.0, density, (9 * used.density + density) / 10)

    async def room(self, config: AgentConfig, tools: tuple[ToolSpec, ...], run: Run | None = None) -> Room:
        """The room for the requests of a run. It is decided again only if the size of the model, its density or the
        tools differ."""
        by = await self._context(config, run), tools, self._in_use(config.model).density
        known = self._rooms.get(id(config))
        if known is None or known.config is not config or known.by != by:
            if len(self._rooms) > _CONFIGS:
                self._rooms.clear()
            known = self._rooms[id(config)] = _Decided(config, by, self._decide(config, *by))
        return known.room

    def _decide(self, config: AgentConfig, context: Context, tools: tuple[ToolSpec, ...], density: float) -> Room:
        settings = getattr(config.model, "settings", None)
        answer = settings.max_tokens if settings is not None else None
        return Room(context, tools, answer, partial(self.toolbox.is_own, config), density)

    async def _context(self, config: AgentConfig, run: Run | None) -> Context:
        if config.context_tokens is not None:
            context = Context(config.context_tokens, "config")
        else:
            used = self._in_use(config.model)
            if clock.now() >= used.context.until:
                used.context = await self.models.context(config.model)
            context = used.context.context
        if context.tokens is None:
            return context
        limit = learned_limit(run) if run is not None and run.context_limit else None
        if limit is not None and limit < context.tokens:
            return Context(limit, "learned")
        return context if context.tokens > MIN_CONTEXT else context._replace(tokens=MIN_CONTEXT)

    def _in_use(self, choice: ModelChoice) -> _ModelInUse:
        # Runs of one config have the same object, and to write it out costs more than the rest.
        chosen = self._chosen.get(id(choice))
        if chosen is not None and chosen[0] is choice:
            return chosen[1]
        key = repr(choice)
        if key not in self._models:
            self._models[key] = _ModelInUse(self.models.get(choice), KnownContext(UNLIMITED, until=0))
            if len(self._models) > _CONFIGS:
                del self._models[next(iter(self._models))]
        if len(self._chosen) > _CONFIGS:
            self._chosen.clear()
        self._chosen[id(choice)] = choice, self._models[key]
        return self._models[key]

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
