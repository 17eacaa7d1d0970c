"""One run from claim to end: perceive → model ⇄ tools → settle. The loop is ours: any worker can go on from any step.

The model's first request of an invocation shows the timeline; further ones add calls and results in the usual form. A
pause ends the invocation. Whoever takes the run up again begins a fresh one, in which everything done is on the
timeline (M10).
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractContextManager, aclosing
from typing import Any

import structlog
from opentelemetry import trace

from majlis import clock, metrics
from majlis.agents.config.config import AgentConfig
from majlis.agents.config.limits import Limits
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
from majlis.runs.calls.call import Calling
from majlis.runs.claim.claimed import Claimed
from majlis.runs.claim.resume import MAX_TAKE_OVERS
from majlis.runs.end.settle import complete, fail, hand_back
from majlis.runs.engine import Engine
from majlis.runs.journal import Entry, Fenced
from majlis.runs.loop.deltas import Speaking
from majlis.runs.loop.earlier_calls import next_step
from majlis.runs.loop.live_cycle import Living
from majlis.runs.loop.model_step import failed_entry, model_entry, view_of
from majlis.runs.loop.perceive import config_of, mind_of
from majlis.runs.run import Working

_logger = structlog.get_logger(__name__)
_tracer = trace.get_tracer("majlis")
# Within a run, before the same request is made again.
LONGEST_REST_SECONDS = 30


def _span(name: str, **attributes: str) -> AbstractContextManager[trace.Span]:
    """An exception's text may hold what was said, so none is recorded; the run's own error is in the run."""
    return _tracer.start_as_current_span(name, attributes=attributes, record_exception=False)


class LimitReached(Exception):
    """J6: the run ends here, completed. Its text is for people."""


class Execution:
    def __init__(self, engine: Engine, claimed: Claimed) -> None:
        self._engine = engine
        self._claimed = claimed
        self._run: Working
        self._calling: Calling
        self._speaking: Speaking | None = None
        self._step = 0
        # Journal entries that wait for the next transaction.
        self._entries: list[Entry] = []
        # Spaces from which the agent was removed while it ran: no word of it is streamed there any more (A7).
        self._left: set[str] = set()
        # consciousness: the cycle that this run is.
        self._living: Living | None = None
        # Those of the next request.
        self._turns: list[Turn] = []
        # Set by the worker before it cancels the task: whether somebody else may go on with the run.
        self.handing_back = False

    @property
    def id(self) -> str:
        return self._claimed.id

    @property
    def agent_id(self) -> str:
        return self._claimed.agent_id

    @property
    def fence(self) -> int:
        return self._claimed.fence

    async def run(self) -> None:
        claimed, engine = self._claimed, self._engine
        try:
            config = await engine.configs.get(claimed.agent_id, claimed.agent_version)
        except Invalid as error:
            # Written by another version of Majlis: no worker of this one can do better.
            self._begin(AgentConfig())
            await self._fail("invalid_config", error.message, False)
            return
        self._begin(config_of(claimed, config))
        attributes = {"majlis.run": claimed.id, "majlis.agent": claimed.agent_name}
        with _span("majlis.run", **attributes):
            await self._guarded()
        metrics.run_seconds.observe((clock.now() - self._run.began_at) / 1000)

    def _begin(self, config: AgentConfig) -> None:
        self._run = Working.on(self._claimed, config)
        self._calling = Calling(self._engine, self._run)

    def left_space(self, space_id: str) -> None:
        self._left.add(space_id)
        if self._speaking is not None:
            self._speaking.leave(space_id)
            self._calling.leave(space_id)

    async def _guarded(self) -> None:
        try:
            await self._work()
        except Fenced:
            self._drop_streams("This run was taken over or canceled.")
        except asyncio.CancelledError:
            self._drop_streams("The run was stopped.")
            if self.handing_back:
                await self._settle(hand_back)
            raise
        except LimitReached as reached:
            self._run.note(str(reached))
            self._drop_streams("The run reached a limit.")
            await self._settle(complete, self._take_entries(), "limit", await self._lived())
        except ModelFailed as error:
            self._drop_streams("The model failed.")
            await self._fail(error.code, error.message, error.retryable, error.retry_after)
        except Exception:
            _logger.exception("a run failed", run=self.id, agent=self._claimed.agent_name)
            self._drop_streams("The run failed.")
            await self._fail("internal", "Majlis itself made a mistake; its log says more.", True)

    async def _work(self) -> None:
        if self._claimed.attempts > MAX_TAKE_OVERS:
            died = f"{MAX_TAKE_OVERS} workers died while working on this"
            await self._fail("workers_died", f"{died}; it is not tried again.", False)
            return
        limit = asyncio.timeout(self._seconds_left())
        try:
            async with limit:
                await self._invoke()
        except TimeoutError:
            # Not every time-out is ours: a database's is a failure, and what the run was owed must be offered again.
            if not limit.expired():
                raise
            raise LimitReached(_ended_after(self._run.config.limits.run_seconds, "seconds", "runSeconds")) from None

    async def _invoke(self) -> None:
        view = await self._perceive()
        turns = self._turns
        model = self._engine.models.get(self._run.config.model)
        specs = await self._calling.offered()
        if view.beside:
            specs = (*specs, *self._engine.toolbox.beside(view.beside))
        # What earlier views of this invocation hold, so that the next one keeps only what was added.
        base: int | None = None
        kept = 0
        while True:
            self._check_limits()
            if self._living is not None and base is not None:
                await self._living.preview(self._engine.db)
                if self._living.make_room():
                    # Earlier turns are not what they were, so the next view is kept whole (X13).
                    base, kept = None, 0
            prompt = Prompt(tuple(turns), specs, self._run.session_id, view.outline)
            started = clock.now()
            try:
                answer = await self._ask(model, prompt)
            except ModelFailed as error:
                self._entries.append(failed_entry(self._step, started, error, view_of(prompt, base, kept)))
                raise
            self._run.spend(answer.usage)
            if answer.session_id is not None and view.keeps_session:
                self._run.go_on_in(answer.session_id)
            shown = self._calling.shown_arguments
            self._entries.append(model_entry(self._step, started, answer, shown, view_of(prompt, base, kept)))
            base, kept = self._step, len(prompt.turns)
            self._step += 1
            if not answer.calls:
                await self._end(answer)
                return
            turns.append(Said(answer.text, answer.calls))
            if await self._act(answer, turns):
                return

    async def _perceive(self) -> View:
        if self._claimed.earlier:
            self._step = await self._engine.db.read(next_step, self.id)
            # Before looking: how these end is part of what the model is shown.
            repeated = await self._calling.repeat_unknown()
            if await self._calling.make_approved(self._claimed.wait) or repeated:
                self._claimed.scene = None
        began = time.perf_counter()
        mind = mind_of(self._run.config)
        scene = self._claimed.scene or await self._engine.db.snapshot(mind.load, self._claimed, self._run.config)
        view = mind.perceive(scene)
        self._run.active_space_id = view.active_space_id
        self._run.saw(view.shown)
        self._run.since, self._run.session_id = view.since, view.session_id
        self._run.note(*view.notes)
        metrics.context_seconds.observe(time.perf_counter() - began)
        self._turns = list(view.turns)
        if self._run.cycle:
            self._living = Living(scene, self._turns, self._calling.shown_arguments)
        return view

    async def _ask(self, model: Model, prompt: Prompt) -> Answer:
        for delay in (*self._engine.retry_seconds, None):
            try:
                return await self._request(model, prompt)
            except ModelFailed as error:
                metrics.model_requests.labels(error.code).inc()
                if error.usage != Usage():
                    self._run.spend(error.usage)
                    metrics.count_tokens(error.usage.input, error.usage.cached, error.usage.output)
                asked_for = error.retry_after or 0
                # A longer rest is the event's, which holds nothing meanwhile (T12).
                if not error.retryable or delay is None or asked_for > LONGEST_REST_SECONDS:
                    raise
                self._drop_streams("The model failed; trying again.")
                await asyncio.sleep(max(delay, asked_for))
        raise AssertionError("the last try returns or raises")

    async def _request(self, model: Model, prompt: Prompt) -> Answer:
        run = self._run
        heard_in = None if run.active_space_id in self._left else run.active_space_id
        self._speaking = Speaking(self._engine.channel, heard_in, run.id, run.agent_id, self._calling.streamed)
        with _span("majlis.model_request") as span:
            # Leaving early, by an answer or a cancel, closes the connection at once.
            async with aclosing(model.stream(prompt)) as events:
                async for event in events:
                    match event:
                        case CallStarted() | CallDelta():
                            self._speaking.hear(event)
                        case Finished(answer):
                            self._speaking.flush()
                            metrics.model_requests.labels("answered").inc()
                            metrics.count_tokens(answer.usage.input, answer.usage.cached, answer.usage.output)
                            span.set_attribute("gen_ai.usage.input_tokens", answer.usage.input)
                            span.set_attribute("gen_ai.usage.output_tokens", answer.usage.output)
                            return answer
        raise ModelFailed("The model's answer ended before it was finished.", True, "model_broken_stream")

    async def _act(self, answer: Answer, turns: list[Turn]) -> bool:
        """Whether the run has paused."""
        for index, call in enumerate(answer.calls):
            stream = self._speaking.of(index) if self._speaking is not None else None
            with _span("majlis.tool", **{"majlis.tool": call.name[:64]}):
                rest = [other.name for other in answer.calls[index + 1 :]]
                done = await self._calling.make(call, self._step, self._take_entries(), stream, rest)
            self._step += 1
            content = done.content if self._living is None else self._living.bounded(done.content)
            turns.append(Result(call.id, call.name, content))
            if done.paused:
                self._drop_streams("The run paused.")
                return True
        return False

    async def _end(self, answer: Answer) -> None:
        if self._living is not None:
            # Here the text is asked for: the agent will remember the cycle by it.
            self._living.close(answer.text)
        elif answer.text.strip() and not any(self._run.wrote.values()):
            # Silence is a right; but this is often a mistake, so people can see it.
            self._run.notes.append("The model wrote text of its own and sent no message.")
        self._drop_streams("The run ended.")
        await self._settle(complete, self._take_entries(), None, await self._lived())

    async def _lived(self) -> Lived | None:
        """Of a cycle: what is kept of it. Also of one whose time was over when it was taken up again."""
        if not self._run.cycle:
            return None
        if self._living is None:
            await self._perceive()
        assert self._living is not None
        return self._living.lived()

    async def _fail(self, code: str, message: str, retryable: bool, rest_seconds: float | None = None) -> None:
        _logger.warning("a run failed", run=self.id, agent=self._claimed.agent_name, code=code, reason=message)
        attempts = self._run.config.limits.attempts if retryable else 0
        await self._settle(fail, self._take_entries(), code, message, attempts, int((rest_seconds or 0) * 1000))

    async def _settle(self, verb: Any, *args: Any) -> None:
        try:
            await self._engine.write(verb, self._run, *args)
            metrics.runs_settled.labels(verb.__name__).inc()
        except Fenced:
            _logger.info("a run was ended elsewhere", run=self.id)

    def _take_entries(self) -> list[Entry]:
        entries, self._entries = self._entries, []
        return entries

    def _check_limits(self) -> None:
        limits: Limits = self._run.config.limits
        spent = self._run.input_tokens + self._run.output_tokens
        if self._run.cycle:
            # Its memory is in every request, and providers keep it in their caches: what is read anew is what counts.
            spent -= self._run.cached_tokens
        if self._run.requests >= limits.steps:
            raise LimitReached(_ended_after(limits.steps, "requests to the model", "steps"))
        if spent >= limits.tokens_per_run:
            raise LimitReached(_ended_after(limits.tokens_per_run, "tokens", "tokensPerRun"))

    def _seconds_left(self) -> float:
        return max(0.0, self._run.config.limits.run_seconds - self._run.worked_millis() / 1000)

    def _drop_streams(self, reason: str) -> None:
        if self._speaking is not None:
            self._speaking.fail(reason)


def _ended_after(most: int, what: str, name: str) -> str:
    return f"The run ended at its limit of {most} {what} (limits.{name})."
