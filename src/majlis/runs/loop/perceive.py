"""Perception: a run's mind loads a scene from the database and turns it into the view for the model. During the run the
view grows, and shrinks if the provider refuses it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from majlis import metrics
from majlis.agents.config.config import AgentConfig
from majlis.minds.consciousness.load import load_waking
from majlis.minds.consciousness.perceive import perceive as perceive_cycle
from majlis.minds.roles.load import load_scene as load_roles_scene
from majlis.minds.roles.perceive import perceive as perceive_roles
from majlis.minds.roles.scene import Scene as RolesScene
from majlis.minds.timeline.load import Shared, at_once, load_in_steps
from majlis.minds.timeline.perceive import perceive as perceive_timeline
from majlis.minds.timeline.scene import Look, Resume, Scene, Who
from majlis.minds.view import LeftOut, View
from majlis.models.port import Answer, Call, ModelFailed, Prompt, Result, ToolSpec, Turn, surely_fits
from majlis.models.provider_errors import CONTEXT_TOO_LONG
from majlis.runs.engine import Engine
from majlis.runs.journal import Lens
from majlis.runs.loop.earlier_calls import load_actions
from majlis.runs.loop.live_cycle import LiveCycle
from majlis.runs.loop.room import MIN_RESULT, Room, remember_limit
from majlis.runs.loop.sight import Sight, with_pictures
from majlis.runs.run import Run
from majlis.store.transactions import Tx

_NO_LIMIT = Room()


@dataclass(frozen=True, slots=True)
class Mind:
    # Reads in one snapshot, in the claim itself where possible. Pauses where it has asked for something, so that the
    # reads of several runs share round trips.
    load_in_steps: Callable[[Tx, Run, Shared], Generator[None, None, Any]]
    # Pure: the same scene and room, in tokens, give the same view.
    perceive: Callable[[Any, int | None], View]

    def load(self, tx: Tx, run: Run) -> Any:
        return at_once(self.load_in_steps(tx, run, Shared()))


def mind_of(config: AgentConfig) -> Mind:
    return _MINDS[config.mind]


class Perception:
    """The model of a run is shown the view of its mind, and then the turns that the run adds. `arguments` gives a
    call's arguments without secrets, `looked_at` is told the active space of each view, `scene` is what the claim has
    loaded."""

    def __init__(
        self,
        engine: Engine,
        run: Run,
        arguments: Callable[[Call], str],
        looked_at: Callable[[str | None, bool], None],
        scene: Any = None,
    ) -> None:
        # The turns of the next request.
        self.turns: list[Turn] = []
        # How many tokens its requests may have.
        self.room = _NO_LIMIT
        # Only a consciousness has one.
        self.cycle: LiveCycle | None = None
        # Blocks of earlier messages that it was not shown and that have no summary (F3).
        self.unsummarised: tuple[tuple[str, int], ...] = ()
        self._engine = engine
        self._run = run
        self._arguments = arguments
        self._looked_at = looked_at
        self._scene = scene
        # The turns after these were added during the run.
        self._begins = 0
        # The pictures in the turns. None before the run meets the first.
        self._sight: Sight | None = None
        # The parts that the view leaves out, and how many tool results were shortened since.
        self._left_out: tuple[LeftOut, ...] = ()
        self._cut = 0

    @property
    def pictures(self) -> Mapping[str, bytes]:
        """JPEG data by file id."""
        return self._sight.content if self._sight is not None else {}

    def forget_scene(self) -> None:
        """The scene has changed since the claim loaded it, so it is loaded again."""
        self._scene = None

    async def begin(self, tools: tuple[ToolSpec, ...]) -> View:
        self.room = await self._engine.room(self._run.config, tools, self._run)
        return await self._look()

    async def make_room(self) -> bool:
        """Called before each further request. True if earlier turns were shortened."""
        if self.cycle is None:
            room = self.room.for_turns
            fits = room is None or surely_fits(self.turns, room)
            return not fits and self.room.make(self.turns, self._begins)
        await self.cycle.preview(self._engine.db, self._run)
        return self.cycle.make_room()

    def answered(self, prompt: Prompt, answer: Answer) -> None:
        """Remembers what the answer tells about the model."""
        # A shorter prompt says little about the density of its tokens, and fits in any case.
        if self.room.context is not None and answer.usage.input > self.room.context // 2:
            density = self.room.density_of(prompt, answer.usage.input)
            self._engine.remember_density(self._run.config.model, density)
        if self._sight is not None:
            self._sight.answered()

    async def change_after(self, error: ModelFailed) -> str | None:
        """Changes the request that the provider has refused, and returns why. None if no change can help."""
        if self._sight is not None and self._sight.refuse(error, self.turns):
            self._run.note("The model refused a request with pictures. It is now asked without them.")
            return "The model cannot see pictures. Trying again without them."
        smaller = self.room.halved() if error.code == CONTEXT_TOO_LONG else None
        if smaller is None:
            return None
        await self._show_less(smaller)
        return "The request was too long. Trying again with less."

    def lens(self) -> Lens:
        found = [*self._left_out, *([LeftOut("results", "shortened", self._cut, "budget")] if self._cut else [])]
        if self.room.left_out:
            found.append(LeftOut("tools", "left out", self.room.left_out, "budget"))
        return {
            "tokens": self.room.context,
            "source": self.room.source,
            "reserved": self.room.for_answer,
            "leftOut": found,
        }

    def add_result(self, call: Call, content: str) -> None:
        bounded = content
        if self.cycle is not None:
            bounded = self.cycle.bounded(content)
        elif len(content) > MIN_RESULT:
            bounded = self.room.bounded(self.turns, content)
        self._cut += bounded != content
        self.turns.append(Result(call.id, call.name, bounded))

    async def add_pictures(self, outputs: Sequence[Any]) -> None:
        """Adds the pictures of tool results."""
        if any(isinstance(output, Mapping) and output.get("files") for output in outputs):
            self._sight = self._sight or Sight(self._engine, self._run)
            self.turns += await self._sight.after_results(outputs, self.room.for_turns)

    async def _look(self) -> View:
        run = self._run
        began = time.perf_counter()
        if run.cycle and (config := self.room.config_of(run.config)) is not run.config:
            run.config, self._scene = config, None
        mind = mind_of(run.config)
        self._scene = scene = self._scene or await self._engine.db.snapshot(mind.load, run)
        await self._engine.pace.keep()
        view = mind.perceive(scene, self.room.for_turns)
        if view.pictures:
            view = await self._with_pictures(view, mind, scene)
        run.active_space_id = view.active_space_id
        self.unsummarised, self._left_out = view.unsummarised, view.left_out
        for space_id, seq in view.shown.items():
            run.saw(space_id, seq)
        self._looked_at(view.active_space_id, view.governed)
        for space_id, seq in view.stands_at.items():
            run.told.setdefault(space_id, seq)
        run.since, run.session_id = view.since, view.session_id
        run.note(*view.notes)
        metrics.context_seconds.observe(time.perf_counter() - began)
        self.turns[:] = view.turns
        self._begins = len(view.turns)
        if run.cycle:
            self.cycle = LiveCycle(scene, self.turns, self._arguments)
        return view

    async def _with_pictures(self, view: View, mind: Mind, scene: Any) -> View:
        room = self.room.for_turns
        self._sight = self._sight or Sight(self._engine, self._run)
        pictures = await self._sight.load(view.pictures, room)
        if pictures and room is not None:
            # The text gets the tokens that the pictures leave.
            view = mind.perceive(scene, room - sum(each.tokens for each in pictures))
        return replace(view, turns=with_pictures(view.turns, pictures)) if pictures else view

    async def _show_less(self, smaller: Room) -> None:
        """The next request has half the budget, and so have this agent's requests to this model for a day (F2)."""
        self.room = smaller
        tokens = smaller.context or 0
        await self._engine.write(remember_limit, self._run, tokens)
        self._run.note(f"The model refused a request as too long. It is now asked with at most {tokens} tokens.")
        added = self.turns[self._begins :]
        await self._look()
        self.turns += added
        if self.cycle is not None:
            self.cycle.make_room()
        else:
            smaller.make(self.turns, self._begins)


def _load_timeline(tx: Tx, run: Run, shared: Shared) -> Generator[None, None, Scene | RolesScene]:
    """An orchestrator sees its routing view, whatever its mind (R8)."""
    look = _look(tx, run)
    if "orchestrates" in run.trigger:
        routing = load_roles_scene(tx, look)
        if routing.routing is not None:
            return routing
    return (yield from load_in_steps(tx, look, shared))


def _load_outside(tx: Tx, run: Run, shared: Shared) -> Generator[None, None, Scene]:
    """For the context of an event: the program decides what its model is shown."""
    return (yield from load_in_steps(tx, _look(tx, run), shared))


def _in_one_step(load: Callable[[Tx, Look], Any]) -> Callable[[Tx, Run, Shared], Generator[None, None, Any]]:
    def steps(tx: Tx, run: Run, _: Shared) -> Generator[None, None, Any]:
        yield
        return load(tx, _look(tx, run))

    return steps


def _look(tx: Tx, run: Run) -> Look:
    return Look(
        Who(run.agent_id, run.agent_name, "agent"),
        run.config,
        run.id,
        run.trigger,
        run.active_space_id,
        load_actions(tx, run.earlier) if run.earlier else (),
        _resume(run),
        run.alone,
        run.limited_to,
        run.earlier[0] if run.earlier else None,
    )


def _resume(run: Run) -> Resume | None:
    if run.wait is None or run.wait.outcome is None:
        return None
    outcome = run.wait.outcome
    return Resume(
        status=outcome.status,
        message_id=outcome.message_id,
        sender_name=outcome.sender_name,
        seconds=run.wait.timeout_seconds,
        reason=outcome.reason,
        answers=tuple(each.message_id for each in outcome.answers) if outcome.answers is not None else None,
        need=run.wait.needed,
        missing=outcome.missing or (),
        left=outcome.left,
        tool=outcome.tool_name,
        approved=outcome.approved,
    )


def _perceive_timeline(scene: Scene | RolesScene, room: int | None) -> View:
    return perceive_timeline(scene, room) if isinstance(scene, Scene) else perceive_roles(scene, room)


_MINDS = {
    "timeline": Mind(_load_timeline, _perceive_timeline),
    "outside": Mind(_load_outside, perceive_timeline),
    "roles": Mind(_in_one_step(load_roles_scene), perceive_roles),
    "consciousness": Mind(_in_one_step(load_waking), lambda waking, _: perceive_cycle(waking)),
}
