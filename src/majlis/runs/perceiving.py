"""What a run sees: its mind loads a scene from the database and makes of it what the model is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from majlis.agents.config import AgentConfig
from majlis.minds.timeline.layouts import perceive
from majlis.minds.timeline.loading import load_scene
from majlis.minds.timeline.scene import Scene, Who
from majlis.minds.view import View
from majlis.runs.actions import load_actions, resume_of
from majlis.runs.claimed import Claimed
from majlis.store.transactions import Tx


@dataclass(frozen=True, slots=True)
class Mind:
    # Reads, in one snapshot; with the claim itself where that is possible.
    load: Callable[[Tx, Claimed, AgentConfig], Any]
    # Pure: the same scene gives the same view.
    perceive: Callable[[Any], View]


def mind_of(config: AgentConfig) -> Mind:
    return _MINDS[config.mind]


def _load_timeline(tx: Tx, claimed: Claimed, config: AgentConfig) -> Scene:
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


_MINDS = {"timeline": Mind(_load_timeline, perceive)}
