"""`enter_space`: choose the active space. Only `read_messages` also takes a space id (A2, A6). `hand_over`: end the
phase of the work in the active space (R6)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from majlis.errors import Forbidden, Invalid, NotFound
from majlis.runs.calls.behalf import access_as_run
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.runs.run import Event, announce
from majlis.spaces.phases import PhaseChange, change_phase
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import Input, built_in
from majlis.tools.builtin.messages import newest, remember_shown


class EnterSpace(Input):
    space_id: Annotated[str, Field(min_length=1, max_length=64)]
    """The id of one of your spaces."""
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    """How many of its newest messages to return."""


class HandOver(Input):
    phase: Annotated[str, Field(min_length=1, max_length=64)]
    """The phase to start."""
    summary: Annotated[str, Field(min_length=1)] | None = None
    """Information for the agents of the next phase. They see it in their prompt."""
    message: Annotated[str, Field(min_length=1)] | None = None
    """A note for the people who view the phases."""
    reason: Annotated[str, Field(min_length=1)] | None = None
    """Why the phase ends now."""


@built_in(
    "Enter one of your spaces. From then on send_message and visible tools act there. Returns its newest messages, "
    "oldest first."
)
def enter_space(tx: Tx, call: CallContext, input: EnterSpace) -> ToolResult:
    refusal = "You did not enter it, and your active space is unchanged"
    space = access_as_run(tx, call.run, input.space_id, refusal)
    page = newest(tx, call.run, space.id, space.head_seq, 0, input.limit)
    remember_shown(tx, call, space.id, space.head_seq)
    announce(tx, _presence(call, space.id))
    call.run.active_space_id = space.id
    return {
        "success": True,
        "spaceId": space.id,
        "spaceName": space.name,
        "history": page.lines,
        "totalMessages": space.head_seq,
        **page.note,
    }


def _presence(call: CallContext, space_id: str) -> list[Event]:
    """The agent appears in the new space and disappears from the one it leaves. Its run shows in the spaces that
    triggered it in any case."""
    data = {"agentId": call.run.agent_id, "runId": call.run.id}
    events: list[Event] = []
    left, asked_in = call.run.active_space_id, call.run.asked_in
    if left not in (None, space_id, *asked_in):
        events.append((str(left), "agent.inactive", {"spaceId": left, **data}))
    if space_id not in (left, *asked_in):
        events.append((space_id, "agent.active", {"spaceId": space_id, **data}))
    return events


@built_in(
    "End the current phase of the work in the active space and start another. The agents of the next phase see "
    "the summary."
)
def hand_over(tx: Tx, call: CallContext, input: HandOver) -> ToolResult:
    if call.run.active_space_id is None:
        raise Invalid("no_active_space", "Nothing was handed over: no space is active. Call enter_space first.")
    change = PhaseChange(input.phase, input.message, input.summary, input.reason)
    try:
        phase = change_phase(tx, call.run.caller, call.run.active_space_id, change)
    except NotFound:
        raise NotFound(
            "not_a_member", "Nothing was handed over: you are no longer a member of the active space."
        ) from None
    except Forbidden:
        raise Forbidden("viewer", "Nothing was handed over: you have read-only access to this space.") from None
    return {"success": True, "from": phase["fromPhase"], "to": phase["toPhase"]}
