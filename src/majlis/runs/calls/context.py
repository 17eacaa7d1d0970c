"""The run on whose behalf a tool acts: who it is, where it stands, and what the call has to leave behind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from majlis.agents.config.config import AgentConfig
from majlis.entities.caller import Caller, EntityType
from majlis.inbox.trigger import EventJson, TriggerJson


@dataclass(slots=True)
class Acting:
    """One running run. A tool reads it; what a tool changes in it counts only if its transaction commits, so the
    executor hands every call a fresh copy."""

    run_id: str
    # The agent is the sender of what it posts: `id`, `name`, `type` make this a `spaces.posting.Sender`.
    id: str
    name: str
    config: AgentConfig
    trigger: TriggerJson
    chain_depth: int
    active_space_id: str | None
    trigger_space_id: str | None
    # Of the call being made: the model's own id for it, and the id of the stream its text went out on, if any.
    call_id: str = ""
    stream_id: str | None = None
    # Its place in the journal.
    step: int = 0
    # Numbers of the newest message shown in each space, and of those written (C2).
    shown: dict[str, int] = field(default_factory=dict)
    wrote: dict[str, list[int]] = field(default_factory=dict)
    waits: int = 0
    # Set by a tool that pauses the run: what the run's row has to hold while it waits.
    pause: Pause | None = None
    # Runs whose calls this one has been shown, itself among them once it has been taken over.
    earlier: list[str] = field(default_factory=list)
    # consciousness: events that the call takes into this cycle, and why the cycle ends with it as if it had not been.
    taken: list[EventJson] = field(default_factory=list)
    skipped: str | None = None
    type: EntityType = "agent"

    @property
    def asked_in(self) -> set[str]:
        """The spaces that the run's events come from."""
        events = self.trigger.get("events") or [self.trigger]
        return {event["spaceId"] for event in events if "spaceId" in event}

    @property
    def caller(self) -> Caller:
        """For the verbs that ask who is reading. No token stands behind a run."""
        return Caller(self.id, self.name, self.type, "member", self.run_id)


@dataclass(frozen=True, slots=True)
class Pause:
    status: Literal["waiting_reply", "waiting_tool"]
    space_id: str
    message_id: str
    seconds: int
    among_agents: bool = False
    # waiting_tool: which call people are asked about.
    call_id: str | None = None
    tool_name: str | None = None


# What a tool answers: JSON for the model. Refusals are MajlisErrors; the executor turns them into error results.
ToolResult = dict[str, Any]
