"""`hand_over`: the agent ends a phase of the work in the active space (R6)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from majlis.errors import Forbidden, Invalid, NotFound
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.spaces.phases import PhaseChange, change_phase
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import Input, built_in


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
