"""What a run sees: its mind loads a scene from the database and makes of it what the model is shown."""

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
from majlis.minds.timeline.scene import Scene, Who
from majlis.minds.view import View
from majlis.runs.claim.claimed import Claimed
from majlis.runs.loop.earlier_calls import load_actions, resume_of
from majlis.store.transactions import Tx


@dataclass(frozen=True, slots=True)
class Mind:
    # Reads, in one snapshot; with the claim itself where that is possible.
    load: Callable[[Tx, Claimed, AgentConfig], Any]
    # Pure: the same scene gives the same view.
    perceive: Callable[[Any], View]


def mind_of(config: AgentConfig) -> Mind:
    return _MINDS[config.mind]


def config_of(claimed: Claimed, config: AgentConfig) -> AgentConfig:
    """A run ends as it began, whatever the agent's mind has become meanwhile: a cycle as a cycle, a run that was none
    (it may have waited for an answer) as a timeline's."""
    if claimed.cycle == (config.mind == "consciousness"):
        return config
    return config.model_copy(update={"mind": "consciousness" if claimed.cycle else "timeline"})


def _load_timeline(tx: Tx, claimed: Claimed, config: AgentConfig) -> Scene | RolesScene:
    """An orchestrator is shown its routing view, whatever its mind (R8)."""
    if "orchestrates" in claimed.trigger:
        routing = _load_roles(tx, claimed, config)
        if routing.routing is not None:
            return routing
    return load_scene(
        tx,
        Who(claimed.agent_id, claimed.agent_name, "agent"),
        config,
        claimed.id,
        claimed.trigger,
        claimed.active_space_id,
        actions=load_actions(tx, claimed.earlier) if claimed.earlier else (),
        resume=resume_of(claimed.wait),
        alone=claimed.alone,
    )


def _load_roles(tx: Tx, claimed: Claimed, config: AgentConfig) -> RolesScene:
    return roles_loading.load_scene(
        tx,
        Who(claimed.agent_id, claimed.agent_name, "agent"),
        config,
        claimed.id,
        claimed.trigger,
        claimed.active_space_id,
        actions=load_actions(tx, claimed.earlier) if claimed.earlier else (),
        resume=resume_of(claimed.wait),
        tried=claimed.earlier[0] if claimed.earlier else None,
    )


def _load_consciousness(tx: Tx, claimed: Claimed, config: AgentConfig) -> Waking:
    return load_waking(
        tx,
        Who(claimed.agent_id, claimed.agent_name, "agent"),
        config,
        claimed.id,
        claimed.trigger.get("events", ()),
        claimed.active_space_id,
        actions=load_actions(tx, claimed.earlier) if claimed.earlier else (),
    )


def _perceive_timeline(scene: Scene | RolesScene) -> View:
    return perceive(scene) if isinstance(scene, Scene) else roles_perceiving.perceive(scene)


_MINDS = {
    "timeline": Mind(_load_timeline, _perceive_timeline),
    "roles": Mind(_load_roles, roles_perceiving.perceive),
    "consciousness": Mind(_load_consciousness, consciousness.perceive),
}
