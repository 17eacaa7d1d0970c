"""One tool call, as the tool sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from majlis.inbox.trigger_shapes import EventJson
from majlis.runs.run import Run
from majlis.waits.condition import Condition
from majlis.waits.wait import WaitStatus

# JSON for the model. A MajlisError becomes an error result instead.
ToolResult = dict[str, Any]


@dataclass(slots=True)
class CallContext:
    """`run` is a copy for this call: what the tool changes in it counts only if the call's transaction commits."""

    run: Run
    # The model's id for the call, and the step's number in the journal.
    call_id: str = ""
    step: int = 0
    # The stream that its text went out on, if any.
    stream_id: str | None = None
    # The sender's id of the message, which makes a repeated request harmless (M16).
    client_id: str | None = None
    # It was checked against the policies; and people have approved exactly this call.
    permitted: bool = False
    approved: bool = False
    # Set by a tool that pauses the run.
    pause: Pause | None = None
    # Consciousness: events that the call takes into this cycle, and the reason if it skips the cycle.
    taken: list[EventJson] = field(default_factory=list)
    skipped: str | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    status: WaitStatus
    space_id: str
    message_id: str
    seconds: int
    among_agents: bool = False
    # waiting_reply: who has to answer, and how many.
    condition: Condition | None = None
    # waiting_tool: the call that people are asked about.
    call_id: str | None = None
    tool_name: str | None = None
