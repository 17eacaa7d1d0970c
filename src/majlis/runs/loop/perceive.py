"""Perception: a run's mind loads a scene from the database and turns it into the view for the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from majlis.agents.config.config import AgentConfig
from majlis.minds.consciousness.load import load_waking
from majlis.minds.consciousness.perceive import perceive as perceive_cycle
from majlis.minds.roles.load import load_scene as load_roles_scene
from majlis.minds.roles.perceive import perceive as perceive_roles
from majlis.minds.roles.scene import Scene as RolesScene
from majlis.minds.timeline.load import load_scene
from majlis.minds.timeline.perceive import perceive as perceive_timeline
from majlis.minds.timeline.scene import Look, Resume, Scene, Who
from majlis.minds.view import View
from majlis.runs.loop.earlier_calls import load_actions
from majlis.runs.run import Run
from majlis.store.transactions import Tx


@dataclass(frozen=True, slots=True)
class Mind:
    # Reads in one snapshot, in the claim itself where possible.
    load: Callable[[Tx, Run], Any]
    # Pure: the same scene and room, in tokens, give the same view.
    perceive: Callable[[Any, int | None], View]


def mind_of(config: AgentConfig) -> Mind:
    return _MINDS[config.mind]


def _load_timeline(tx: Tx, run: Run) -> Scene | RolesScene:
    """An orchestrator sees its routing view, whatever its mind (R8)."""
    look = _look(tx, run)
    if "orchestrates" in run.trigger:
        routing = load_roles_scene(tx, look)
        if routing.routing is not None:
            return routing
    return load_scene(tx, look)


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
    # For the context of an event: the program decides what its model is shown.
    "outside": Mind(lambda tx, run: load_scene(tx, _look(tx, run)), perceive_timeline),
    "roles": Mind(lambda tx, run: load_roles_scene(tx, _look(tx, run)), perceive_roles),
    "consciousness": Mind(lambda tx, run: load_waking(tx, _look(tx, run)), lambda waking, _: perceive_cycle(waking)),
}
