"""One run from claim to end: perceive → model ⇄ tools → settle. Any worker can continue from any step.

The first request of an invocation shows the timeline; further requests add calls and results in the usual form. A pause
ends the invocation. When the run resumes, a fresh invocation shows everything done so far on the timeline (M10).
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractContextManager, aclosing
from typing import Any, Literal

import structlog
from opentelemetry import trace

from majlis import clock, metrics
from majlis.errors import Invalid
from majlis.minds.consciousness.remember import Lived
from majlis.minds.view import View
from majlis.models.port import (
    Answer,
    CallDelta,
    CallStarted,
    Finished,
    Model,
    ModelFailed,
    Prompt,
    Result,
    Said,
    Turn,
    Usage,
)
from majlis.runs.calls.call import Calls
from majlis.runs.claim.resume import MAX_TAKE_OVERS
from majlis.runs.end.settle import complete, fail, hand_back
from majlis.runs.engine import Engine
from majlis.runs.journal import Entry, Fenced, failed_entry, model_entry, pack_view
from majlis.runs.loop.deltas import UNSTREAMED, Deltas
from majlis.runs.loop.earlier_calls import next_step
from majlis.runs.loop.live_cycle import LiveCycle
from majlis.runs.loop.perceive import mind_of
from majlis.runs.run import Run
from majlis.store.faults import is_passing

_logger = structlog.get_logger(__name__)
_tracer = trace.get_tracer("majlis")
# The longest delay before a model request is retried within the run.
MAX_RETRY_SECONDS = 30
FIRST_RETRY_SECONDS = 0.1


def _span(name: str, **attributes: str) -> AbstractContextManager[trace.Span]:
    """Exceptions are not recorded, since their text may contain messages. The run stores its own error."""
    return _tracer.start_as_current_span(name, attributes=attributes, record_exception=False)


class LimitReached(Exception):
    """Ends the run as completed (J6). Its text is for people."""


class Loop:
    """The loop of one run. `scene` is what the run sees, if the claim has loaded it."""

    def __init__(self, engine: Engine, run: Run, scene: Any = None) -> None:
        self.run = run
        self._engine = engine
        self._scene = scene
        self._calls = Calls(engine, run)
        self._deltas: Deltas | None = None
        self._step = 0
        # Journal entries that wait for the next transaction.
        self._entries: list[Entry] = []
        # Spaces from which the agent was removed while it ran: nothing is streamed there any more (A7).
        self._left: set[str] = set()
        # Only of a consciousness.
        self._cycle: LiveCycle | None = None
        # The turns of the next request.
        self._turns: list[Turn] = []
        # Set by the worker before it cancels the task: another worker may continue the run.
        self.handing_back = False

    async def execute(self) -> None:
        run = self.run
        try:
            run.adopt(await self._engine.configs.get(run.agent_id, run.agent_version))
        except Invalid as error:
            # Written by another version of Majlis: retrying cannot help.
            await self._fail("invalid_config", error.message, False)
            return
        with _span("majlis.run", **{"majlis.run": run.id, "majlis.agent": run.agent_name}):
            await self._guarded()
        metrics.run_seconds.observe((clock.now() - run.began_at) / 1000)

    def left_space(self, space_id: str) -> None:
        self._left.add(space_id)
        if self._deltas is not None:
            self._deltas.leave(space_id)
            self._calls.leave(space_id)

    async def _guarded(self) -> None:
        try:
            await self._work()
        except Fenced:
            self._drop_streams("This run was taken over or canceled.")
        except asyncio.CancelledError:
            self._drop_streams("The run was stopped.")
            if self.handing_back:
                await self._settle("hand_back", hand_back)
            raise
        except LimitReached as reached:
            self.run.note(str(reached))
            self._drop_streams("The run reached a limit.")
            await self._settle("complete", complete, self._take_entries(), "limit", await self._lived())
        except ModelFailed as error:
            self._drop_streams("The model failed.")
            await self._fail(error.code, error.message, error.retryable, error.retry_after)
        except Exception as error:
            if is_passing(error) and self._engine.may_interrupt(self.run.id):
                self._drop_streams("The database is not responding.")
                await self._hand_back_later(error)
                return
            _logger.exception("run failed", run=self.run.id, agent=self.run.agent_name)
            self._drop_streams("The run failed.")
            await self._fail("internal", "Majlis had an internal error. The server log has the details.", True)

    async def _work(self) -> None:
        if self.run.attempts > MAX_TAKE_OVERS:
            message = f"{MAX_TAKE_OVERS} workers died while working on this, so it is not retried."
            await self._fail("workers_died", message, False)
            return
        limit = asyncio.timeout(self._seconds_left())
        try:
            async with limit:
                await self._invoke()
        except TimeoutError:
            # A timeout of the database is a failure, not the run's limit.
            if not limit.expired():
                raise
            raise LimitReached(_ended_after(self.run.config.limits.run_seconds, "seconds", "runSeconds")) from None

    async def _invoke(self) -> None:
        view = await self._perceive()
        turns = self._turns
        model = self._engine.models.get(self.run.config.model)
        specs = await self._calls.offered()
        if view.beside:
            specs = (*specs, *self._engine.toolbox.beside(view.beside))
        # Of the last stored view: the next one stores only what was added.
        base: int | None = None
        kept = 0
        while True:
            self._check_limits()
            if self._cycle is not None and base is not None:
                await self._cycle.preview(self._engine.db)
                if self._cycle.make_room():
                    # Earlier turns have changed, so the next view is stored whole (X13).
                    base, kept = None, 0
            prompt = Prompt(tuple(turns), specs, self.run.session_id, view.outline)
            started = clock.now()
            try:
                answer = await self._ask(model, prompt)
            except ModelFailed as error:
                self._entries.append(failed_entry(self._step, started, error, pack_view(prompt, base, kept)))
                raise
            self.run.spend(answer.usage)
            if answer.session_id is not None and view.keeps_session:
                self.run.continue_session(answer.session_id)
            shown = self._calls.shown_arguments
            self._entries.append(model_entry(self._step, started, answer, shown, pack_view(prompt, base, kept)))
            base, kept = self._step, len(prompt.turns)
            self._step += 1
            if not answer.calls:
                await self._end(answer)
                return
            turns.append(Said(answer.text, answer.calls))
            if await self._act(answer, turns):
                return

    async def _perceive(self) -> View:
        run = self.run
        if run.earlier:
            self._step = await self._engine.db.read(next_step, run.id)
            # Before loading the scene, which shows the model how these calls ended.
            repeated = await self._calls.repeat_unknown()
            if await self._calls.make_approved() or repeated:
                self._scene = None
        began = time.perf_counter()
        mind = mind_of(run.config)
        scene = self._scene or await self._engine.db.snapshot(mind.load, run)
        view = mind.perceive(scene)
        run.active_space_id = view.active_space_id
        for space_id, seq in view.shown.items():
            run.saw(space_id, seq)
        run.since, run.session_id = view.since, view.session_id
        run.note(*view.notes)
        metrics.context_seconds.observe(time.perf_counter() - began)
        self._turns = list(view.turns)
        if run.cycle:
            self._cycle = LiveCycle(scene, self._turns, self._calls.shown_arguments)
        return view

    async def _ask(self, model: Model, prompt: Prompt) -> Answer:
        for delay in (*self._engine.retry_seconds, None):
            try:
                return await self._request(model, prompt)
            except ModelFailed as error:
                metrics.model_requests.labels(error.code).inc()
                if error.usage != Usage():
                    self.run.spend(error.usage)
                    metrics.count_tokens(error.usage.input, error.usage.cached, error.usage.output)
                asked_for = error.retry_after or 0
                # For a longer delay the run fails and its event backs off, so that no slot is held (T12).
                if not error.retryable or delay is None or asked_for > MAX_RETRY_SECONDS:
                    raise
                self._drop_streams("The model failed. Trying again.")
                await asyncio.sleep(max(delay, asked_for))
        raise AssertionError("the last try returns or raises")

    async def _request(self, model: Model, prompt: Prompt) -> Answer:
        run = self.run
        heard_in = None if run.active_space_id in self._left else run.active_space_id
        self._deltas = Deltas(self._engine.channel, heard_in, run.id, run.agent_id, self._calls.streamed)
        with _span("majlis.model_request") as span:
            # Closes the connection at once when the run is cancelled.
            async with aclosing(model.stream(prompt)) as events:
                async for event in events:
                    match event:
                        case CallStarted() | CallDelta():
                            self._deltas.hear(event)
                        case Finished(answer):
                            self._deltas.flush()
                            metrics.model_requests.labels("answered").inc()
                            metrics.count_tokens(answer.usage.input, answer.usage.cached, answer.usage.output)
                            span.set_attribute("gen_ai.usage.input_tokens", answer.usage.input)
                            span.set_attribute("gen_ai.usage.output_tokens", answer.usage.output)
                            return answer
        raise ModelFailed("The model's answer ended before it was finished.", True, "model_broken_stream")

    async def _act(self, answer: Answer, turns: list[Turn]) -> bool:
        """True if the run has paused."""
        for index, call in enumerate(answer.calls):
            stream = self._deltas.of(index) if self._deltas is not None else UNSTREAMED
            with _span("majlis.tool", **{"majlis.tool": call.name[:64]}):
                rest = [other.name for other in answer.calls[index + 1 :]]
                done = await self._calls.make(call, self._step, self._take_entries(), stream, rest)
            self._step += 1
            content = done.content if self._cycle is None else self._cycle.bounded(done.content)
            turns.append(Result(call.id, call.name, content))
            if done.paused:
                self._drop_streams("The run paused.")
                return True
        return False

    async def _end(self, answer: Answer) -> None:
        if self._cycle is not None:
            # The closing text is how the agent will remember the cycle.
            self._cycle.close(answer.text)
        elif answer.text.strip() and not any(self.run.wrote.values()):
            # Agents may stay silent, but this is often a mistake, so it is shown to people.
            self.run.notes.append("The model wrote text but did not send a message.")
        self._drop_streams("The run ended.")
        await self._settle("complete", complete, self._take_entries(), None, await self._lived())

    async def _lived(self) -> Lived | None:
        """The part of a cycle that is kept, even if its time ran out before it perceived anything."""
        if not self.run.cycle:
            return None
        if self._cycle is None:
            await self._perceive()
        assert self._cycle is not None
        return self._cycle.lived()

    async def _fail(self, code: str, message: str, retryable: bool, rest_seconds: float | None = None) -> None:
        _logger.warning("run failed", run=self.run.id, agent=self.run.agent_name, code=code, reason=message)
        attempts = self.run.config.limits.attempts if retryable else 0
        rest_millis = int((rest_seconds or 0) * 1000)
        await self._settle("fail", fail, self._take_entries(), code, message, attempts, rest_millis)

    async def _hand_back_later(self, error: Exception) -> None:
        """An outage is not the agent's fault: the run goes back to the queue as soon as the database answers, and no
        try is counted. If its lease expires before, another worker takes it over."""
        _logger.warning("run interrupted by the database", run=self.run.id, error=type(error).__name__)
        delay = FIRST_RETRY_SECONDS
        while True:
            await asyncio.sleep(delay)
            try:
                await self._settle("hand_back", hand_back)
                return
            except Exception as still:
                if not is_passing(still):
                    raise
            delay = min(delay * 2, MAX_RETRY_SECONDS)

    async def _settle(self, label: Literal["complete", "fail", "hand_back"], verb: Any, *args: Any) -> None:
        try:
            await self._engine.write(verb, self.run, *args)
            metrics.runs_settled.labels(label).inc()
        except Fenced:
            _logger.info("run ended elsewhere", run=self.run.id)

    def _take_entries(self) -> list[Entry]:
        entries, self._entries = self._entries, []
        return entries

    def _check_limits(self) -> None:
        limits = self.run.config.limits
        spent = self.run.input_tokens + self.run.output_tokens
        if self.run.cycle:
            # Its past is in every request and comes from the provider's cache, so cached tokens do not count.
            spent -= self.run.cached_tokens
        if self.run.requests >= limits.steps:
            raise LimitReached(_ended_after(limits.steps, "requests to the model", "steps"))
        if spent >= limits.tokens_per_run:
            raise LimitReached(_ended_after(limits.tokens_per_run, "tokens", "tokensPerRun"))

    def _seconds_left(self) -> float:
        return max(0.0, self.run.config.limits.run_seconds - self.run.worked_millis() / 1000)

    def _drop_streams(self, reason: str) -> None:
        if self._deltas is not None:
            self._deltas.fail(reason)


def _ended_after(most: int, what: str, name: str) -> str:
    return f"The run reached its limit of {most} {what} (limits.{name})."
