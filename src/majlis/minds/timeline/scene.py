"""Everything that the timeline mind shows, loaded in one snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from majlis.agents.config.config import AgentConfig
from majlis.clock import Millis
from majlis.entities.caller import EntityType
from majlis.spaces.shapes import MessageKind, SpaceRole, Triggers


# Not frozen: a scene has many of these, and a frozen one takes three times as long to make.
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
    # {"id": …, "name": …} of the person who stopped the sender while it wrote this (L7).
    stopped_by: Mapping[str, Any] | None = None
    edited_at: Millis | None = None
    # The member that deleted it. Its text is empty then.
    deleted_by: Mapping[str, Any] | None = None
    # As the API returns them (L4).
    files: Sequence[Mapping[str, Any]] | None = None
    # [{"emoji", "entityIds"}]
    reactions: Sequence[Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit of a message that the agent had seen: a line of its own, after the message with the number `at_seq`."""

    message: Message
    at_seq: int
    at: Millis
    text: str


@dataclass(frozen=True, slots=True)
class OwnSpace:
    """A space that the agent is a member of. `members` are up to 20 others."""

    id: str
    name: str
    role: SpaceRole
    members: tuple[Who, ...]
    more_members: int = 0


@dataclass(frozen=True, slots=True)
class Pin:
    message_id: str
    sender: Who
    text: str
    created_at: Millis


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of the messages `first` to `last` (F3). `at_seq` was the newest message when it was made."""

    first: int
    last: int
    text: str
    at_seq: int


@dataclass(frozen=True, slots=True)
class ActiveSpace:
    """`total` is the number of its newest message, `cursor` the newest that a completed run was shown (0: none)."""

    id: str
    name: str
    total: int
    cursor: int
    # Which agents a message wakes here (T10).
    triggers: Triggers = "everyone"
    # Where chains of agents end (E11).
    depth_limit: int | None = None
    # F8; `phase_by` is the name of the member who set it.
    phase: str | None = None
    phase_by: str | None = None
    summary: str | None = None
    # It has a policy for tools.
    governed: bool = True
    # The newest pins, oldest first, and how many more there are.
    pins: tuple[Pin, ...] = ()
    more_pins: int = 0
    # F3: the newest summaries, oldest first, and whether the space allows them.
    summaries: tuple[Summary, ...] = ()
    summarised: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """F4: where the run was asked, if it is active elsewhere now: the trigger and the messages around it."""

    space: ActiveSpace
    history: tuple[Message, ...]
    edits: Mapping[int, Sequence[Edit]] = field(default_factory=dict)


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
    # The name of the space or person that it came from; None if an admin or an earlier version wrote it.
    source: str | None = None


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
    """Another open run of the same agent."""

    id: str
    status: str
    trigger: Mapping[str, Any]
    wait_space_name: str | None
    waiting_for: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Action:
    """A tool call that this run or an earlier attempt at the same event made (J2, M10).

    `state` is `started` if the outcome is unknown because the worker died during the call."""

    at: Millis
    name: str
    input: Any
    output: Any
    state: Literal["started", "done", "error"]
    # For send_message: the message that it stored.
    message_id: str | None = None
    space_id: str | None = None
    space_name: str | None = None

    @property
    def was_held(self) -> bool:
        """Its message was not posted, because others had arrived (E8)."""
        return isinstance(self.output, Mapping) and self.output.get("status") == "held"


@dataclass(frozen=True, slots=True)
class Resume:
    """How the run's last wait ended."""

    status: Literal["replied", "timeout", "answered", "withdrawn"]
    # replied: the message and its sender. answered: the person.
    message_id: str | None = None
    sender_name: str | None = None
    # timeout: how long it waited; `deadlock` if agents waited for each other (M12).
    seconds: int = 0
    reason: str | None = None
    # A wait that names members or needs several answers: the ids of the answers, how many it needs, who has not
    # answered, and who left.
    answers: tuple[str, ...] | None = None
    need: int = 1
    missing: tuple[str, ...] = ()
    left: str | None = None
    # A wait for people's answer (J5): the tool that asked or needed approval, and whether it was approved.
    tool: str | None = None
    approved: bool | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """The run that a scene is loaded for."""

    agent: Who
    config: AgentConfig
    run_id: str
    # T11, in the API's form.
    trigger: Mapping[str, Any]
    active_space_id: str | None
    actions: tuple[Action, ...] = ()
    resume: Resume | None = None
    # The agent has no other open run.
    alone: bool = False
    # The person whose rights bound what is shown; None shows all that the agent may see (G3).
    person: str | None = None
    # Roles: the first run that attempted this trigger, if there was one.
    tried: str | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    now: Millis
    agent: Who
    config: AgentConfig
    run_id: str
    # T11, in the API's form.
    trigger: Mapping[str, Any]
    active: ActiveSpace | None
    # Limited to what one person may see: other people's runs are shown other blocks.
    limited: bool = field(default=False, kw_only=True)
    # The trigger set the active space.
    auto_set: bool
    history: tuple[Message, ...] = ()
    # The number of the first message of the history that has no gap, if the budget moved it (F1).
    first_seq: int = 0
    # L1: by the number of the message of the history that they follow.
    edits: Mapping[int, Sequence[Edit]] = field(default_factory=dict)
    asked: Asked | None = None
    # X12: messages that the histories or the trigger refer to, if the agent may read them.
    quoted: Mapping[str, Message] = field(default_factory=dict)
    spaces: tuple[OwnSpace, ...] = ()
    # Spaces beyond the 100 in `spaces`.
    more_spaces: int = 0
    # Goals, memories and plans beyond those below.
    more_kept: int = 0
    goals: tuple[Goal, ...] = ()
    memories: tuple[Memory, ...] = ()
    plans: tuple[Plan, ...] = ()
    other_runs: tuple[OtherRun, ...] = ()
    actions: tuple[Action, ...] = ()
    resume: Resume | None = None
