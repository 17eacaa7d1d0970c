"""Everything that the timeline is drawn from: loaded in one snapshot by few indexed reads, then only looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from majlis.agents.config.config import AgentConfig
from majlis.clock import Millis
from majlis.entities.caller import EntityType
from majlis.spaces.shapes import MessageKind, SpaceRole


# Not frozen, though nobody changes them: making a frozen one costs three times as much, and a scene has many.
@dataclass(slots=True)
class Who:
    id: str
    name: str
    type: EntityType


@dataclass(slots=True)
class Message:
    id: str
    space_id: str
    seq: int
    sender: Who
    kind: MessageKind
    text: str
    reply_to: str | None
    created_at: Millis
    run_id: str | None = None
    tool: Mapping[str, Any] | None = None
    # M14: {"sourceSpace": id, "sourceEvent": message id, …}; see `Origin`.
    origin: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class OwnSpace:
    """A space that the agent is a member of. `members` are the others, the agent itself left out, at most 20."""

    id: str
    name: str
    role: SpaceRole
    members: tuple[Who, ...]
    more_members: int = 0


@dataclass(frozen=True, slots=True)
class ActiveSpace:
    """`total` is the number of its newest message, `cursor` the newest that a completed run was shown (0: none)."""

    id: str
    name: str
    total: int
    cursor: int


@dataclass(frozen=True, slots=True)
class Goal:
    id: str
    description: str
    priority: int
    long_term: bool


@dataclass(frozen=True, slots=True)
class Memory:
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Plan:
    id: str
    name: str
    instruction: str
    cron: str | None
    run_after: str | None
    next_at: Millis


@dataclass(frozen=True, slots=True)
class OtherRun:
    """Another run of the same agent that has not ended: `trigger` as in `Scene.trigger`."""

    id: str
    status: str
    trigger: Mapping[str, Any]
    wait_space_name: str | None
    waiting_for: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Action:
    """A tool call that this run, or an earlier try at the same event, has made already (J2, M10).

    `state` is `started` when its outcome is unknown: the worker died during the call."""

    at: Millis
    name: str
    input: Any
    output: Any
    state: Literal["started", "done", "error"]
    # For send_message: the message it stored, and where.
    message_id: str | None = None
    space_id: str | None = None
    space_name: str | None = None


@dataclass(frozen=True, slots=True)
class Resume:
    """How the run's last wait ended."""

    status: Literal["replied", "timeout", "answered", "withdrawn"]
    # replied: the message that did it, and who. answered: who.
    message_id: str | None = None
    sender_name: str | None = None
    # timeout: how long it waited; `deadlock` when a ring of waiting agents was noticed (M12).
    seconds: int = 0
    reason: str | None = None
    # Of a wait for people's answer: the tool that asked, or that needed their permission, and whether it got it (J5).
    tool: str | None = None
    approved: bool | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    now: Millis
    agent: Who
    config: AgentConfig
    run_id: str
    # T11, as it is kept on the run and shown by the API: camelCase keys.
    trigger: Mapping[str, Any]
    active: ActiveSpace | None
    # Whether the active space is the one that the trigger set, so that the block can say so.
    auto_set: bool
    history: tuple[Message, ...] = ()
    # X12: messages quoted by id in the history or the trigger, if the agent may read them.
    quoted: Mapping[str, Message] = field(default_factory=dict)
    # Names of spaces that origins point to, for spaces that the agent may read.
    spaces: tuple[OwnSpace, ...] = ()
    # How many spaces of the agent are not in `spaces`, which holds at most 100.
    more_spaces: int = 0
    goals: tuple[Goal, ...] = ()
    memories: tuple[Memory, ...] = ()
    plans: tuple[Plan, ...] = ()
    other_runs: tuple[OtherRun, ...] = ()
    actions: tuple[Action, ...] = ()
    resume: Resume | None = None
