"""One run from claim to end: perceive → model ⇄ tools → settle. Any worker can continue from any step.

The first request of an invocation shows the timeline; further requests add calls and results in the usual form. A pause
ends the invocation. When the run resumes, a fresh invocation shows everything done so far on the timeline (M10).
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, Literal

import structlog

from majlis import clock, metrics, telemetry
from majlis.errors import Invalid, MajlisError
from majlis.minds.consciousness.remember import Lived
from majlis.minds.view import View
from majlis.models.port import Answer, ModelFailed, Patience, Prompt, Said, ToolSpec, Turn, User
from majlis.models.provider_errors import WITHOUT_TOOLS
from majlis.runs.budget.check import Charge, charge
from majlis.runs.calls.call import Calls, dump
from majlis.runs.calls.repeat import Repeats
from majlis.runs.claim.deaths import MAX_DEATHS, SUSPECT_DEATHS, acquit
from majlis.runs.end.cancel import Words, stop
from majlis.runs.end.settle import complete, fail, hand_back, split
from majlis.runs.end.unsent import NUDGE, is_expected_to_answer, may_offer
from majlis.runs.engine import Engine
from majlis.runs.journal import Entry, Fenced, failed_entry, model_entry, pack_view
from majlis.runs.loop.earlier_calls import next_step
from majlis.runs.loop.observe import agent_span, causes, observed_call
from majlis.runs.loop.perceive import Perception
from majlis.runs.loop.request_model import MAX_RETRY_SECONDS, Parked, Requests
from majlis.runs.run import Run
from majlis.spaces.shapes import StopperJson
from majlis.store.passing_faults import is_passing

_logger = structlog.get_logger(__name__)
FIRST_RETRY_SECONDS = 0.1
_HELD = "Your message was not posted. Write your answer again, or an empty response to stay silent. "


class LimitReached(Exception):
    """Ends the run as completed (J6). Its text is for people."""


class Loop:
    """The loop of one run. `scene` is what the run sees, if the claim has loaded it."""

    def __init__(self, engine: Engine, run: Run, scene: Any = None) -> None:
        self.run = run
        self._engine = engine
        self._calls = Calls(engine, run)
        self._requests = Requests(engine, run, self._calls.streamed, self._calls.shown_arguments)
        self._perception = Perception(engine, run, self._calls.shown_arguments, self._requests.looked_at, scene)
        self._step = 0
        # Journal entries that wait for the next transaction.
        self._entries: list[Entry] = []
        # The code of the error that it ended with.
        self._failed: str | None = None
        # The model was told that it has not sent its text (E10).
        self._nudged = False
        # Set by the worker before it cancels the task: another worker may continue the run.
        self.handing_back = False
        # Also set before that: the person who stops the run.
        self.stopped_by: StopperJson | None = None
        # It has written to the journal since it was claimed, so it has not killed this worker at once.
        self.proven = False

    async def execute(self) -> None:
        run = self.run
        try:
            run.adopt(await self._engine.configs.get(run.agent_id, run.agent_version))
        except Invalid as error:
            # Written by another version of Majlis: retrying cannot help.
            await self._fail("invalid_config", error.message, False)
            return
        await (self._guarded() if telemetry.listener is None else self._observed())
        self._engine.summarise(self._perception.unsummarised)
        metrics.run_seconds.observe((clock.now() - run.began_at) / 1000)

    def left_space(self, space_id: str) -> None:
        self._requests.leave(space_id)
        self._calls.leave(space_id)

    async def _observed(self) -> None:
        found: list[str] = []
        # No run fails because of its telemetry.
        with suppress(Exception):
            found = await self._engine.db.read(causes, self.run)
        with agent_span(self.run, found) as span:
            await self._guarded()
            if self._failed is not None:
                span.fail(self._failed)

    async def _guarded(self) -> None:
        try:
            await self._work()
        except Fenced:
            self._requests.drop_streams("This run was taken over or canceled.")
            # Only a hint: if it cannot be written, one death too many is counted.
            with suppress(Exception):
                await self._engine.write(acquit, self.run.id, self.run.fence)
        except asyncio.CancelledError:
            if self.stopped_by is not None:
                await self._stop(self.stopped_by)
            self._requests.drop_streams("The run was stopped.")
            if self.handing_back:
                await self._settle("hand_back", hand_back, self._all_charges())
            elif charges := self._requests.take_charges():
                await self._engine.write(charge, [*charges, *self._all_charges()])
            raise
        except Parked:
            self._requests.drop_streams("The run paused.")
        except LimitReached as reached:
            self.run.note(str(reached))
            self._requests.drop_streams("The run reached a limit.")
            await self._settle("complete", complete, self._take_entries(), "limit", await self._lived())
        except ModelFailed as error:
            self._requests.drop_streams("The model failed.")
            await self._fail(error.code, error.message, error.retryable, error.retry_after)
        except Exception as error:
            if is_passing(error) and self._engine.may_interrupt(self.run.id):
                self._requests.drop_streams("The database is not responding.")
                await self._hand_back_later(error)
                return
            _logger.exception("run failed", run=self.run.id, agent=self.run.agent_name)
            self._requests.drop_streams("The run failed.")
            await self._fail("internal", "Majlis had an internal error. The server log has the details.", True)

    async def _stop(self, by: StopperJson) -> None:
        """The text that the agent was writing stays (L7), if it may still be posted."""
        said = self._requests.being_said()
        words = Words(said.id, said.space_id, said.text) if said is not None else None
        charges = self._all_charges()
        try:
            try:
                message = await self._engine.write(stop, self.run, by, charges, words)
            except MajlisError:
                message = await self._engine.write(stop, self.run, by, charges, None)
        except Fenced:
            return
        if said is not None and message is not None:
            said.complete({"success": True, "messageId": message["id"], "status": "stopped"})

    async def _work(self) -> None:
        if self.run.deaths >= MAX_DEATHS:
            crashed = f"The server crashed {MAX_DEATHS} times while working on this."
            message = f"{crashed} The last time, it was working on nothing else."
            await self._fail("workers_died", message, False)
            return
        if self.run.deaths == SUSPECT_DEATHS and len(self.run.trigger.get("events", ())) > 1:
            message = "The server crashed while working on this. Each of its events is tried on its own."
            await self._settle("fail", split, "workers_died", message)
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
        if self._engine.calls_tools(self.run.config.model):
            try:
                await self._converse(True)
                return
            except ModelFailed as error:
                if error.code != WITHOUT_TOOLS:
                    raise
                self._entries.clear()
                self._engine.remember_without_tools(self.run.config.model)
        self.run.note("The model cannot call tools, so its text is posted as its message.")
        self.run.config = self.run.config.model_copy(update={"speak": "text"})
        self._perception.forget_scene()
        await self._converse(False)

    async def _converse(self, calls_tools: bool) -> None:
        if self.run.cycle and self._requests.speaks_by_text:
            # Its text answers the first message of its inbox.
            self.run.active_space_id = self.run.trigger.get("spaceId", self.run.active_space_id)
        model = self._engine.model(self.run.config.model)
        view = await self._perceive(await self._calls.offered() if calls_tools else ())
        turns = self._perception.turns
        beside = self._engine.toolbox.beside(view.beside) if calls_tools else ()
        # The step of the last stored view. The next view stores only what was added.
        base: int | None = None
        kept = 0
        while True:
            self._check_limits()
            await self._requests.check_budgets(self._entries)
            if base is not None and await self._perception.make_room():
                # Earlier turns have changed, so the next view is stored whole (X13).
                base, kept = None, 0
            tools, session = (*self._perception.room.tools, *beside), self.run.session_id
            prompt = Prompt(tuple(turns), tools, session, view.outline, self._patience(), self._perception.pictures)
            started = clock.now()
            try:
                answer, cost = await self._requests.ask(model, prompt)
            except ModelFailed as error:
                entry = failed_entry(self._step, started, error, pack_view(prompt, base, kept, self._perception.lens()))
                entry.charges = self._requests.take_charges()
                self._entries.append(entry)
                change = await self._perception.change_after(error)
                if change is None:
                    raise
                self._requests.drop_streams(change)
                self._step += 1
                base, kept = None, 0
                continue
            if answer.session_id is not None and view.keeps_session:
                self.run.continue_session(answer.session_id)
            self._perception.answered(prompt, answer)
            arguments = self._calls.shown_arguments
            packed = pack_view(prompt, base, kept, self._perception.lens())
            entry = model_entry(self._step, started, answer, cost, arguments, packed)
            entry.charges = self._requests.take_charges()
            self._entries.append(entry)
            base, kept = self._step, len(prompt.turns)
            self._step += 1
            if not answer.calls:
                if await self._end(answer, turns):
                    return
                continue
            turns.append(Said(answer.text, answer.calls))
            if await self._act(answer):
                return

    def _patience(self) -> Patience:
        limits = self.run.config.limits
        return Patience(limits.first_byte_seconds, limits.idle_seconds)

    async def _perceive(self, specs: tuple[ToolSpec, ...]) -> View:
        run = self.run
        if run.earlier:
            self._step = await self._engine.db.read(next_step, run.id)
            # Before loading the scene, which shows the model how these calls ended.
            repeats = Repeats(self._engine, run, self._calls)
            repeated = await repeats.repeat_unknown()
            made = await repeats.make_approved()
            if made == "paused":
                raise Parked
            if made == "made" or repeated:
                self._perception.forget_scene()
        return await self._perception.begin(specs)

    async def _act(self, answer: Answer) -> bool:
        """True if the run has paused."""
        outputs = []
        for index, call in enumerate(answer.calls):
            stream = self._requests.stream_of_call(index)
            rest = [other.name for other in answer.calls[index + 1 :]]
            made = self._calls.make(call, self._step, self._take_entries(), stream, rest)
            if telemetry.listener is not None:
                made = observed_call(self.run, call, self._calls.shown_arguments, made)
            done = await made
            self._step += 1
            self.proven = True
            self._perception.add_result(call, done.content)
            outputs.append(done.output)
            if done.paused:
                self._requests.drop_streams("The run paused.")
                return True
        await self._perception.add_pictures(outputs)
        return False

    async def _end(self, answer: Answer, turns: list[Turn]) -> bool:
        """False if the model is asked again."""
        said = answer.text.strip()
        if said and self._requests.speaks_by_text:
            return await self._speak(answer.text, turns)
        if self._perception.cycle is not None:
            # The closing text is how the agent will remember the cycle.
            self._perception.cycle.close(answer.text)
        elif (said or self._nudged) and not any(self.run.wrote.values()) and not await self._keep_unsent(bool(said)):
            turns += [Said(answer.text), User((NUDGE,))]
            return False
        self._requests.drop_streams("The run ended.")
        await self._settle("complete", complete, self._take_entries(), None, await self._lived())
        return True

    async def _keep_unsent(self, said: bool) -> bool:
        """Agents may stay silent, but text without a message is often a mistake (E10). False if the agent has to be
        told so first."""
        run, db = self.run, self._engine.db
        expected = await db.read(is_expected_to_answer, run)
        if expected and not self._nudged:
            self._nudged = True
            return False
        run.note("The model wrote text but did not send a message.")
        if said and expected and await db.read(may_offer, run):
            run.unsent_step = self._step - 1
        return True

    async def _speak(self, text: str, turns: list[Turn]) -> bool:
        """Posts the final text. False if it was held back and the model is asked again."""
        if self._perception.cycle is not None:
            self._perception.cycle.close(text)
        stream = self._requests.stream_of_text()
        entries, step = self._take_entries(), self._step
        self._step += 1
        result = await self._calls.speak(text, step, entries, stream, await self._lived())
        if result["success"]:
            return True
        if result["status"] == "held":
            turns += [*([] if self._perception.cycle is not None else [Said(text)]), User((_HELD + dump(result),))]
            return False
        self.run.note(f"The model's text was not posted: {result['error']}")
        await self._settle("complete", complete, [], None, await self._lived())
        return True

    async def _lived(self) -> Lived | None:
        """The part of a cycle that is kept, even if its time ran out before it perceived anything."""
        if not self.run.cycle:
            return None
        if self._perception.cycle is None:
            await self._perceive(())
        assert self._perception.cycle is not None
        return self._perception.cycle.lived()

    async def _fail(self, code: str, message: str, retryable: bool, rest_seconds: float | None = None) -> None:
        _logger.warning("run failed", run=self.run.id, agent=self.run.agent_name, code=code, reason=message)
        self._failed = code
        attempts = self.run.config.limits.attempts if retryable else 0
        rest_millis = int((rest_seconds or 0) * 1000)
        await self._settle("fail", fail, self._take_entries(), code, message, attempts, rest_millis)

    async def _hand_back_later(self, error: Exception) -> None:
        """The run goes back to the queue as soon as the database answers. An outage does not count as a try. If the
        run's lease expires before, another worker takes it over."""
        _logger.warning("run interrupted by the database", run=self.run.id, error=type(error).__name__)
        delay, charges = FIRST_RETRY_SECONDS, self._all_charges()
        while True:
            await asyncio.sleep(delay)
            try:
                await self._settle("hand_back", hand_back, charges)
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

    def _all_charges(self) -> list[Charge]:
        """Includes charges of entries that are not written: their requests will be made, and billed, again."""
        return [*self._requests.take_charges(), *(each for entry in self._take_entries() for each in entry.charges)]

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


def _ended_after(most: int, what: str, name: str) -> str:
    return f"The run reached its limit of {most} {what} (limits.{name})."
