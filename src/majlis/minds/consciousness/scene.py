"""Everything that a cycle begins with: loaded in one snapshot by few indexed reads, then only looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from majlis.clock import Millis
from majlis.minds.roles.scene import Scene as RoutingScene
from majlis.minds.timeline.scene import ActiveSpace, Scene

# T11, as it is kept on the run and shown by the API.
Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Head:
    """A cycle without what was said in it: enough to decide how it is shown."""

    n: int
    tokens: int
    summary: str
    at: Millis


@dataclass(frozen=True, slots=True)
class Cycle:
    """A cycle that is shown in full: `messages` as they were sent to the model and stored, in chat form."""

    n: int
    messages: list[dict[str, Any]]
    summary: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Group:
    """Cycles that are shown by their summaries: each of them whole or its beginning. None said: only counted."""

    first: int
    last: int
    since: Millis
    until: Millis
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Past:
    """How the past is shown: summaries up to cycle `through`, after that whole cycles, of which those up to `trimmed`
    are cut to `cap` tokens each (0: none is)."""

    through: int = 0
    trimmed: int = 0
    cap: int = 0
    groups: tuple[Group, ...] = ()


@dataclass(frozen=True, slots=True)
class Waking:
    # The agent, its config, spaces, goals, memories and plans, and what an earlier try at these events has done. No
    # space is active in it: where the agent stands changes often, and is told last.
    world: Scene
    active: ActiveSpace | None
    # People first, then by time.
    inbox: tuple[Event, ...]
    past: Past = Past()
    recent: tuple[Cycle, ...] = ()
    # The past had to be compacted for this cycle: it is to be kept with it.
    compacted: bool = False
    # It is the orchestrator of some space, and the routing view of each such space that something has come from (R8).
    conducts: bool = False
    routings: tuple[RoutingScene, ...] = ()
