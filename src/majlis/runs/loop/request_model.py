"""Asks the model: one request with its retries, streamed to the space, charged to the run and its budgets (E5, E6)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextlib import aclosing
from typing import Any

from majlis import clock, metrics, telemetry
from majlis.agents.config.policy import verdict
from majlis.live.bus import Unsubscribe
from majlis.models.estimate_tokens import estimate_tools, estimate_turns
from majlis.models.port import (
    Answer,
    Call,
    CallDelta,
    CallStarted,
    Finished,
    Model,
    ModelFailed,
    Prompt,
    TextDelta,
    Usage,
)
from majlis.models.sizes_and_prices import Prices
from majlis.runs.budget.check import BudgetScope, Charge, check_budgets
from majlis.runs.budget.park import keys_of, park
from majlis.runs.calls.permission import place_of
from majlis.runs.engine import Engine
from majlis.runs.journal import Entry
from majlis.runs.loop.deltas import UNSTREAMED, CallStream, Deltas, SpokenStream
from majlis.runs.loop.observe import observed_request
from majlis.runs.loop.stale_drafts import StaleDrafts
from majlis.runs.run import Run

# The longest delay before a model request is retried within the run.
MAX_RETRY_SECONDS = 30
_CHARACTERS_PER_TOKEN = 4
_MESSAGE = b'"space.message"'


class Parked(Exception):
    """The run is queued until its budget allows more (E5), or it waits after a call that was approved."""


class Requests:
    """The model requests of one run. `streamed` gives the schema of a tool whose calls are streamed, `shown` the
    arguments of a call without secrets."""

    def __init__(
        self,
        engine: Engine,
        run: Run,
        streamed: Callable[[str], Mapping[str, Any] | None],
        shown: Callable[[Call], str],
    ) -> None:
        self._engine = engine
        self._run = run
        self._shown = shown
        self._streamed = streamed
        self._deltas: Deltas | None = None
        # Spaces from which the agent was removed while it ran: nothing is streamed there any more (A7).
        self._left: set[str] = set()
        # The scopes whose budgets the run is charged to, what is not written yet, and the characters of this answer.
        self._budgeted: Collection[BudgetScope] = ()
        self._charges: list[Charge] = []
        self._heard = 0
        # The space of the last view, if it has no policy.
        self._free_space: str | None = None
        # Tells when the message that is being written has become stale (E8).
        self._stale_drafts: StaleDrafts | None = None

    @property
    def speaks_by_text(self) -> bool:
        """The model's text is its message (E10)."""
        return self._run.config.speak == "text"

    def looked_at(self, space_id: str | None, governed: bool) -> None:
        self._free_space = None if governed else space_id

    def leave(self, space_id: str) -> None:
        self._left.add(space_id)
        if self._deltas is not None:
            self._deltas.leave(space_id)

    def drop_streams(self, reason: str) -> None:
        if self._deltas is not None:
            self._deltas.fail(reason)

    def being_said(self) -> SpokenStream | None:
        return self._deltas.being_said() if self._deltas is not None else None

    def stream_of_call(self, index: int) -> CallStream:
        return self._deltas.of(index) if self._deltas is not None else UNSTREAMED

    def stream_of_text(self) -> CallStream:
        return self._deltas.text() if self._deltas is not None else UNSTREAMED

    async def check_budgets(self, entries: list[Entry]) -> None:
        """Checks the budgets before each request (E5). Raises Parked, with the entries written."""
        run, budgets = self._run, self._engine.budgets
        while budgets.apply:
            check = await self._engine.db.read(check_budgets, keys_of(run), budgets.today(), budgets.usd_per_day)
            self._budgeted = check.scopes
            if check.spent is None:
                return
            if await self._engine.write(park, run, entries, budgets):
                raise Parked

    async def ask(self, model: Model, prompt: Prompt) -> tuple[Answer, float | None]:
        """Returns the answer and its cost. A request is charged the price at the time when it was made."""
        if self._run.config.model_name not in self._engine.prices.unknown:
            await self._engine.prices.load(self._run.config.model_name)
        for delay in (*self._engine.retry_seconds, None):
            prices, started = self._engine.prices, clock.now()
            try:
                answer = await self._request(model, prompt)
                return answer, self._spend(answer.usage, prices, started)
            except asyncio.CancelledError:
                self._charge_aborted(prompt, prices, started)
                raise
            except ModelFailed as error:
                metrics.model_requests.labels(error.code).inc()
                if error.usage != Usage():
                    self._spend(error.usage, prices, started)
                    _count(error.usage)
                asked_for = error.retry_after or 0
                # For a longer delay the run fails and its event backs off, so that no slot is held (T12).
                if not error.retryable or error.slow or delay is None or asked_for > MAX_RETRY_SECONDS:
                    raise
                self.drop_streams("The model failed. Trying again.")
                await asyncio.sleep(max(delay, asked_for))
        raise AssertionError("the last try returns or raises")

    def take_charges(self) -> list[Charge]:
        charges, self._charges = self._charges, []
        return charges

    async def _request(self, model: Model, prompt: Prompt) -> Answer:
        run = self._run
        heard_in = None if run.active_space_id in self._left else run.active_space_id
        where = self._engine.channel, heard_in, run.id, run.agent_id
        silent = await self._asks_first(heard_in)
        self._deltas = Deltas(*where, self._streamed, self.speaks_by_text, silent)
        self._heard = 0
        unwatch = self._watch(run.active_space_id)
        try:
            return await self._answer(model, prompt)
        finally:
            unwatch()

    async def _asks_first(self, space_id: str | None) -> bool:
        """A message that needs an approval is not streamed (G5)."""
        policy = self._run.config.policy
        if policy and verdict(policy, "send_message") != "allow":
            return True
        if space_id is None or space_id == self._free_space:
            return False
        place = await self._engine.db.read(place_of, space_id)
        return verdict(place.policy, "send_message") != "allow"

    def _watch(self, space_id: str | None) -> Unsubscribe:
        """Looks at messages that arrive in the space while the model writes one (E8)."""
        run = self._run
        guard = run.guard(space_id) if space_id is not None else None
        if space_id is None or guard is None or not guard.holds:
            return lambda: None
        space, own = space_id.encode(), run.id.encode()

        def hear(payload: bytes) -> None:
            if _MESSAGE in payload and space in payload and own not in payload:
                self._stale_drafts = self._stale_drafts or StaleDrafts(self._engine, run, self._withdraw)
                self._stale_drafts.hear(space_id, payload)

        return self._engine.channel.watch(space_id, hear)

    def _withdraw(self) -> None:
        if self._deltas is not None:
            self._deltas.withdraw("New messages arrived before this one was posted.")

    async def _answer(self, model: Model, prompt: Prompt) -> Answer:
        assert self._deltas is not None
        stream = model.stream(prompt)
        if telemetry.listener is not None:
            stream = observed_request(self._run, prompt, self._shown, stream)
        # Closes the connection at once when the run is cancelled.
        async with aclosing(stream) as events:
            async for event in events:
                match event:
                    case TextDelta() | CallStarted() | CallDelta():
                        self._deltas.hear(event)
                        self._heard += _length(event)
                    case Finished(answer):
                        self._deltas.flush()
                        metrics.model_requests.labels("answered").inc()
                        _count(answer.usage)
                        return answer
        raise ModelFailed("The model's answer ended before it was finished.", True, "model_broken_stream")

    def _spend(self, usage: Usage, prices: Prices, at: int) -> float | None:
        name = self._run.config.model_name
        cost = prices.cost(name, usage, at) if name not in prices.unknown else None
        self._run.spend(usage, cost)
        if self._budgeted:
            budgets, keys = self._engine.budgets, keys_of(self._run)
            self._charges += budgets.charges(keys, self._budgeted, cost or 0.0, usage.input + usage.output)
        return cost

    def _charge_aborted(self, prompt: Prompt, prices: Prices, at: int) -> None:
        """Estimates the cost of an aborted request: the provider bills it, but does not say how much."""
        if self._budgeted:
            read = estimate_turns(prompt.turns) + estimate_tools(prompt.tools)
            self._spend(Usage(read, 0, self._heard // _CHARACTERS_PER_TOKEN), prices, at)


def _count(usage: Usage) -> None:
    metrics.tokens.labels("input").inc(usage.input)
    metrics.tokens.labels("cached").inc(usage.cached)
    metrics.tokens.labels("output").inc(usage.output)


def _length(event: TextDelta | CallStarted | CallDelta) -> int:
    match event:
        case TextDelta(text=text) | CallDelta(arguments=text):
            return len(text)
    return 0
