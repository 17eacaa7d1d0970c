"""Perception: a run's mind loads a scene from the database and turns it into the view for the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from majlis.agents.config.config import AgentConfig
from majlis.minds.consciousness import perceive as consciousness
from majlis.minds.consciousness.load import load_waking
from majlis.minds.consciousness.scene import Waking
from majlis.minds.roles import load as roles_loading
from majlis.minds.roles import perceive as roles_perceiving
from majlis.minds.roles.scene import Scene as RolesScene
from majlis.minds.timeline.load import load_scene
from majlis.minds.timeline.perceive import perceive
from majlis.minds.timeline.scene import Resume, Scene, Who
from majlis.minds.view import View
from majlis.runs.loop.earlier_calls import load_actions
from majlis.runs.run import Run
from majlis.store.transactions import Tx


@dataclass(frozen=True, slots=True)
class Mind:
    # Reads in one snapshot, in the claim itself where possible.
    load: Callable[[Tx, Run], Any]
    # Pure: the same scene gives the same view.
    perceive: Callable[[Any], View]


def mind_of(config: AgentConfig) -> Mind:
    return _MINDS[config.mind]


def _load_timeline(tx: Tx, run: Run) -> Scene | RolesScene:
    """An orchestrator sees its routing view, whatever its mind (R8)."""
    if "orchestrates" in run.trigger:
        routing = _load_roles(tx, run)
        if routing.routing is not None:
            return routing
    return load_scene(
        tx,
        Who(run.agent_id, run.agent_name, "agent"),
        run.config,
        run.id,
        run.trigger,
        run.active_space_id,
        actions=load_actions(tx, run.earlier) if run.earlier else (),
        resume=_resume(run),
        alone=run.alone,
    )


def _load_roles(tx: Tx, run: Run) -> RolesScene:
    return roles_loading.load_scene(
        tx,
        Who(run.agent_id, run.agent_name, "agent"),
        run.config,
        run.id,
        run.trigger,
        run.active_space_id,
        actions=load_actions(tx, run.earlier) if run.earlier else (),
        resume=_resume(run),
        tried=run.earlier[0] if run.earlier else None,
    )


def _load_consciousness(tx: Tx, run: Run) -> Waking:
    return load_waking(
        tx,
        Who(run.agent_id, run.agent_name, "agent"),
        run.config,
        run.id,
        run.trigger.get("events", ()),
        run.active_space_id,
        actions=load_actions(tx, run.earlier) if run.earlier else (),
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
        tool=outcome.tool_name,
        approved=outcome.approved,
    )


def _perceive_timeline(scene: Scene | RolesScene) -> View:
    return perceive(scene) if isinstance(scene, Scene) else roles_perceiving.perceive(scene)


_MINDS = {
    "timeline": Mind(_load_timeline, _perceive_timeline),
    "roles": Mind(_load_roles, roles_perceiving.perceive),
    "consciousness": Mind(_load_consciousness, consciousness.perceive),
}
