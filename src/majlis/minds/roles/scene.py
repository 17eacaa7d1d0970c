"""Everything that a run of the roles mind is shown, loaded in one snapshot and then only looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from majlis.clock import Millis
from majlis.minds.timeline import scene as timeline
from majlis.minds.timeline.scene import Message
from majlis.spaces.damage import Damaged


@dataclass(frozen=True, slots=True)
class Place:
    """The space that the trigger came from. `since` is the newest message that the agent knows of there, None where it
    has never been (R1); it stays what it was when the trigger was first tried (R5)."""

    id: str
    name: str
    trigger_seq: int
    since: int | None
    phase: str | None = None
    # The summary with which the present phase was handed over (R6).
    summary: str | None = None
    session_id: str | None = None
    # More than one person is there: their messages carry their names.
    several_people: bool = False
    # The agent has written here after the trigger was posted: it was asked twice before it could answer.
    spoke_since: bool = False


@dataclass(frozen=True, slots=True)
class Participant:
    """An agent that a turn was routed to, and what it has said in it."""

    name: str
    state: Literal["pending", "taken", "done", "passed", "failed"]
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    id: str
    phase: str | None
    reason: str | None
    at: Millis
    finished: bool
    participants: tuple[Participant, ...]


@dataclass(frozen=True, slots=True)
class Routing:
    """What the orchestrator of a space decides by (R8). `request` is None if it is gone."""

    agents: tuple[str, ...]
    request: Message | None
    # Of this request, and those of others that are not finished; the oldest first.
    turns: tuple[Turn, ...] = ()
    more_turns: bool = False
    # The turn that has just been finished and so brought the orchestrator here.
    finished: str | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    # What every mind shows: who the agent is, what it keeps, its spaces, the trigger, what this run has done.
    common: timeline.Scene
    # None for plans, services and heartbeats, and where the agent is no member any more.
    place: Place | None = None
    # Before the trigger, oldest first.
    history: tuple[Message, ...] = ()
    # How many messages lie before those.
    left_out: int = 0
    damaged: tuple[Damaged, ...] = ()
    quoted: Mapping[str, Message] = field(default_factory=dict)
    # Where the run is now, if not at the place of its trigger.
    elsewhere: tuple[str, str] | None = None
    # A message that has ended a wait of this run.
    answer: Message | None = None
    routing: Routing | None = None
