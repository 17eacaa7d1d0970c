"""Everything that the roles mind shows, loaded in one snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from majlis.clock import Millis
from majlis.minds.timeline import scene as timeline
from majlis.minds.timeline.scene import ActiveSpace, Message
from majlis.spaces.damaged_rows import Damaged


@dataclass(frozen=True, slots=True)
class Place:
    """The space of the trigger. `since` is the newest message that the agent knew at the first attempt (R5); None
    before its first run there (R1)."""

    id: str
    name: str
    trigger_seq: int
    since: int | None
    phase: str | None = None
    # The summary of the last handover (R6).
    summary: str | None = None
    session_id: str | None = None
    # With several people, messages carry their names.
    several_people: bool = False
    # The agent has sent messages here after the trigger.
    spoke_since: bool = False
    # The author of the summary (G11).
    summary_by: str | None = None


@dataclass(frozen=True, slots=True)
class Participant:
    """An agent that a turn was routed to, and its messages in the turn."""

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
    """The data an orchestrator decides by (R8). `request` is None if it is missing."""

    agents: tuple[str, ...]
    request: Message | None
    # All turns of this request, and open turns of others; oldest first.
    turns: tuple[Turn, ...] = ()
    more_turns: bool = False
    # The finished turn that triggered this run.
    finished: str | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    # What every mind shows: the agent, its memories and spaces, the trigger, this run's calls.
    common: timeline.Scene
    # None for plans, services and heartbeats, and if the agent is no longer a member.
    place: Place | None = None
    # Before the trigger, oldest first.
    history: tuple[Message, ...] = ()
    # The number of messages before those, and of the first message of the history that has no gap.
    left_out: int = 0
    first_seq: int = field(default=1, kw_only=True)
    damaged: tuple[Damaged, ...] = ()
    quoted: Mapping[str, Message] = field(default_factory=dict)
    # The active space, if it is not the space of the trigger.
    elsewhere: ActiveSpace | None = None
    # The newest messages there (F4).
    said_elsewhere: tuple[Message, ...] = ()
    # The message that ended the run's wait, unless it is among those.
    answer: Message | None = None
    routing: Routing | None = None
