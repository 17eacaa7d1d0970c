"""One run from claim to end: perceive → model ⇄ tools → settle. Any worker can continue from any step.

The first request of an invocation shows the timeline; further requests add calls and results in the usual form. A pause
ends the invocation. When the run resumes, a fresh invocation shows everything done so far on the timeline (M10).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any, Literal

import structlog

from majlis import clock, metrics, telemetry
from majlis.errors import Invalid, MajlisError
from majlis.minds.consciousness.remember import Lived
from majlis.minds.view import LeftOut, View
from majlis.models.port import Answer, ModelFailed, Patience, Prompt, Result, Said, ToolSpec, Turn, User, surely_fits
from majlis.models.provider_errors import CONTEXT_TOO_LONG, WITHOUT_TOOLS
from majlis.runs.budget.check import Charge, charge
from majlis.runs.calls.call import Calls, dump
from majlis.runs.calls.repeat import Repeats
from majlis.runs.claim.deaths import MAX_DEATHS, SUSPECT_DEATHS, acquit
from majlis.runs.end.cancel import Words, stop
from majlis.runs.end.settle import complete, fail, hand_back, split
from majlis.runs.end.unsent import NUDGE, is_expected_to_answer, may_offer
from majlis.runs.engine import Engine
from majlis.runs.journal import Entry, Fenced, Lens, failed_entry, model_entry, pack_view
from majlis.runs.loop.ask import MAX_RETRY_SECONDS, Parked, Requests
from majlis.runs.loop.earlier_calls import next_step
from majlis.runs.loop.live_cycle import LiveCycle
from majlis.runs.loop.observe import agent_span, causes, observed_call
from majlis.runs.loop.perceive import Mind, mind_of
from majlis.runs.loop.room import MIN_RESULT, Room, remember_limit
from majlis.runs.loop.sight import Sight, with_pictures
from majlis.runs.run import Run
from majlis.spaces.shapes import StopperJson
from majlis.store.faults import is_passing

_logger = structlog.get_logger(__name__)
FIRST_RETRY_SECONDS = 0.1
_NO_LIMIT = Room()
_HELD = "Your message was not posted. Write your answer again, or an empty response to stay silent. "


class LimitReached(Exception):
    """Ends the run as completed (J6). Its text is for people."""


class Loop:
    """The loop of one run. `scene` is what the run sees, if the claim has loaded it."""

    def __init__(self, engine: Engine, run: Run, scene: Any = None) -> None:
        self.run = run
        self._engine = engine
        self._scene = scene
        self._calls = Calls(engine, run)
        self._requests = Requests(engine, run, self._calls.streamed, self._calls.shown_arguments)
        self._step = 0
        # Journal entries that wait for the next transaction.
        self._entries: list[Entry] = []
        # Only a consciousness has one.
        self._cycle: LiveCycle | None = None
        # The code of the error that it ended with.
        self._failed: str | None = None
        # How many tokens its requests may have.
        self._room = _NO_LIMIT
        # The turns after these were added during the run.
        self._begins = 0
        # Blocks of earlier messages that it was not shown and that have no summary (F3).
        self._unsummarised: tuple[tuple[str, int], ...] = ()
        # The turns of the next request.
        self._turns: list[Turn] = []
        # The pictures in them. None before the run meets the first.
        self._sight: Sight | None = None
        # The parts that the view leaves out, and how many tool results were shortened since.
        self._left_out: tuple[LeftOut, ...] = ()
        self._cut = 0
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
        self._engine.summarise(self._unsummarised)
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
        self._scene = None
        await self._converse(False)

    async def _converse(self, calls_tools: bool) -> None:
        if self.run.cycle and self._requests.speaks_by_text:
            # Its text answers the first message of its inbox.
            self.run.active_space_id = self.run.trigger.get("spaceId", self.run.active_space_id)
        model = self._engine.model(self.run.config.model)
        view = await self._perceive(await self._calls.offered() if calls_tools else ())
        turns = self._turns
        beside = self._engine.toolbox.beside(view.beside) if calls_tools else ()
        # The step of the last stored view. The next view stores only what was added.
        base: int | None = None
        kept = 0
        while True:
            self._check_limits()
            await self._requests.check_budgets(self._entries)
            if base is not None and await self._make_room():
                # Earlier turns have changed, so the next view is stored whole (X13).
                base, kept = None, 0
            session, shown = self.run.session_id, self._sight.content if self._sight is not None else {}
            prompt = Prompt(tuple(turns), (*self._room.tools, *beside), session, view.outline, self._patience(), shown)
            started = clock.now()
            try:
                answer, cost = await self._requests.ask(model, prompt)
            except ModelFailed as error:
                entry = failed_entry(self._step, started, error, pack_view(prompt, base, kept, self._lens()))
                entry.charges = self._requests.take_charges()
                self._entries.append(entry)
                if not (self._show_no_pictures(error) or await self._show_less(error)):
                    raise
                self._step += 1
                base, kept = None, 0
                continue
            if answer.session_id is not None and view.keeps_session:
                self.run.continue_session(answer.session_id)
            # A shorter prompt does not tell how dense its tokens are, or it does not matter.
            if self._room.context is not None and answer.usage.input > self._room.context // 2:
                density = self._room.density_of(prompt, answer.usage.input)
                self._engine.remember_density(self.run.config.model, density)
            if self._sight is not None:
                self._sight.answered()
            arguments = self._calls.shown_arguments
            packed = pack_view(prompt, base, kept, self._lens())
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
            if await self._act(answer, turns):
                return

    def _lens(self) -> Lens:
        found = [*self._left_out, *([LeftOut("results", "shortened", self._cut, "budget")] if self._cut else [])]
        if self._room.left_out:
            found.append(LeftOut("tools", "left out", self._room.left_out, "budget"))
        return {
            "tokens": self._room.context,
            "source": self._room.source,
            "reserved": self._room.for_answer,
            "leftOut": [asdict(each) for each in found],
        }

    def _patience(self) -> Patience:
        limits = self.run.config.limits
        return Patience(limits.first_byte_seconds, limits.idle_seconds)

    async def _make_room(self) -> bool:
        """Before each further request. True if earlier turns were shortened."""
        if self._cycle is None:
            room = self._room.for_turns
            fits = room is None or surely_fits(self._turns, room)
            return not fits and self._room.make(self._turns, self._begins)
        await self._cycle.preview(self._engine.db, self.run)
        return self._cycle.make_room()

    async def _show_less(self, error: ModelFailed) -> bool:
        """The provider refused the request as too long: the next one has half the budget, and so have this agent's
        requests to this model for a day (F2). False if that is not the reason, or nothing can be left out."""
        smaller = self._room.halved() if error.code == CONTEXT_TOO_LONG else None
        if smaller is None:
            return False
        self._room = smaller
        self._requests.drop_streams("The request was too long. Trying again with less.")
        tokens = self._room.context or 0
        await self._engine.write(remember_limit, self.run, tokens)
        self.run.note(f"The model refused a request as too long. It is now asked with at most {tokens} tokens.")
        added = self._turns[self._begins :]
        await self._look()
        self._turns += added
        if self._cycle is not None:
            self._cycle.make_room()
        else:
            self._room.make(self._turns, self._begins)
        return True

    def _show_no_pictures(self, error: ModelFailed) -> bool:
        if self._sight is None or not self._sight.refuse(error, self._turns):
            return False
        self._requests.drop_streams("The model cannot see pictures. Trying again without them.")
        self.run.note("The model refused a request with pictures. It is now asked without them.")
        return True

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
                self._scene = None
        self._room = await self._engine.room(run.config, specs, run)
        return await self._look()

    async def _look(self) -> View:
        run = self.run
        began = time.perf_counter()
        if run.cycle and (config := self._room.config_of(run.config)) is not run.config:
            run.config, self._scene = config, None
        mind = mind_of(run.config)
        self._scene = scene = self._scene or await self._engine.db.snapshot(mind.load, run)
        view = mind.perceive(scene, self._room.for_turns)
        if view.pictures:
            view = await self._with_pictures(view, mind, scene)
        run.active_space_id = view.active_space_id
        self._unsummarised, self._left_out = view.unsummarised, view.left_out
        for space_id, seq in view.shown.items():
            run.saw(space_id, seq)
        self._requests.looked_at(view.active_space_id, view.governed)
        for space_id, seq in view.stands_at.items():
            run.told.setdefault(space_id, seq)
        run.since, run.session_id = view.since, view.session_id
        run.note(*view.notes)
        metrics.context_seconds.observe(time.perf_counter() - began)
        self._turns[:] = view.turns
        self._begins = len(view.turns)
        if run.cycle:
            self._cycle = LiveCycle(scene, self._turns, self._calls.shown_arguments)
        return view

    async def _with_pictures(self, view: View, mind: Mind, scene: Any) -> View:
        room = self._room.for_turns
        self._sight = self._sight or Sight(self._engine, self.run)
        pictures = await self._sight.load(view.pictures, room)
        if pictures and room is not None:
            # The text gets the tokens that the pictures leave.
            view = mind.perceive(scene, room - sum(each.tokens for each in pictures))
        return replace(view, turns=with_pictures(view.turns, pictures)) if pictures else view

    async def _act(self, answer: Answer, turns: list[Turn]) -> bool:
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
            content = self._bounded(done.content)
            self._cut += content != done.content
            turns.append(Result(call.id, call.name, content))
            outputs.append(done.output)
            if done.paused:
                self._requests.drop_streams("The run paused.")
                return True
        if any(isinstance(output, Mapping) and output.get("files") for output in outputs):
            self._sight = self._sight or Sight(self._engine, self.run)
            turns += await self._sight.after_results(outputs, self._room.for_turns)
        return False

    def _bounded(self, content: str) -> str:
        if self._cycle is not None:
            return self._cycle.bounded(content)
        return self._room.bounded(self._turns, content) if len(content) > MIN_RESULT else content

    async def _end(self, answer: Answer, turns: list[Turn]) -> bool:
        """False if the model is asked again."""
        said = answer.text.strip()
        if said and self._requests.speaks_by_text:
            return await self._speak(answer.text, turns)
        if self._cycle is not None:
            # The closing text is how the agent will remember the cycle.
            self._cycle.close(answer.text)
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
        if self._cycle is not None:
            self._cycle.close(text)
        stream = self._requests.stream_of_text()
        entries, step = self._take_entries(), self._step
        self._step += 1
        result = await self._calls.speak(text, step, entries, stream, await self._lived())
        if result["success"]:
            return True
        if result["status"] == "held":
            turns += [*([] if self._cycle is not None else [Said(text)]), User((_HELD + dump(result),))]
            return False
        self.run.note(f"The model's text was not posted: {result['error']}")
        await self._settle("complete", complete, [], None, await self._lived())
        return True

    async def _lived(self) -> Lived | None:
        """The part of a cycle that is kept, even if its time ran out before it perceived anything."""
        if not self.run.cycle:
            return None
        if self._cycle is None:
            await self._perceive(())
        assert self._cycle is not None
        return self._cycle.lived()

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
