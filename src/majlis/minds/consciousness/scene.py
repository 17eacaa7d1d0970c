"""Everything that a cycle starts with, loaded in one snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from majlis.clock import Millis
from majlis.minds.roles.scene import Scene as RoutingScene
from majlis.minds.timeline.scene import ActiveSpace, Scene

# T11, in the API's form.
Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Head:
    """A cycle without its messages."""

    n: int
    tokens: int
    summary: str
    at: Millis


@dataclass(frozen=True, slots=True)
class Cycle:
    """A cycle that is shown in full. `messages` are stored in the form of the Chat Completions protocol."""

    n: int
    messages: list[dict[str, Any]]
    summary: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Group:
    """Cycles that are shown by their summaries, which may be shortened. Without summaries they are only counted."""

    first: int
    last: int
    since: Millis
    until: Millis
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Past:
    """How the past is shown: summaries up to cycle `through`, then whole cycles. Those up to `trimmed` are cut to `cap`
    tokens each; 0 means that none is cut."""

    through: int = 0
    trimmed: int = 0
    cap: int = 0
    groups: tuple[Group, ...] = ()


@dataclass(frozen=True, slots=True)
class Waking:
    # The agent, its config, spaces, goals, memories and plans, and the calls of an earlier attempt. Without an active
    # space, which changes often and is shown last.
    world: Scene
    active: ActiveSpace | None
    # People first, then by time.
    inbox: tuple[Event, ...]
    past: Past = Past()
    recent: tuple[Cycle, ...] = ()
    # The past was compacted for this cycle and must be stored with it.
    compacted: bool = False
    # The agent is an orchestrator (R8). `routings` has a view for each orchestrated space in the inbox.
    orchestrates: bool = False
    routings: tuple[RoutingScene, ...] = ()
