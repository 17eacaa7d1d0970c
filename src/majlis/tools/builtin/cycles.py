"""Tools of a consciousness for its cycles: take in what arrives (K5), skip one (K6), recall earlier ones (K7)."""

from __future__ import annotations

from typing import Annotated

import sqlalchemy as sa
from pydantic import Field

from majlis.clock import iso
from majlis.errors import Conflict
from majlis.inbox.trigger_shapes import EventJson
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.runs.claim.arrivals import Arrival, lock_arrivals, take_arrivals
from majlis.store.tables import cycles, steps
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import Input, built_in
from majlis.tools.builtin.messages import MAX_PAGE, size_of

_NAMES = ("type", "spaceName", "senderName", "planName", "serviceName", "toolName")
_ACTED = (
    sa.select(steps.c.run_id)
    .where(steps.c.run_id.in_(sa.bindparam("runs", expanding=True)), steps.c.kind == "tool")
    .limit(1)
)


class PeekInbox(Input):
    count: Annotated[int, Field(ge=1, le=50)] = 1
    """How many events to take. Events from people come first."""
    filter: Annotated[str, Field(min_length=1, max_length=128)] | None = None
    """Take only events whose type, space, sender, plan, service or tool name contains this text."""


class Skip(Input):
    reason: Annotated[str, Field(max_length=500)] | None = None
    """Why you skip, in a few words, for the people who run you."""


class RecallCycles(Input):
    first: Annotated[int, Field(ge=1, le=2**53)]
    """The number of the first cycle to read."""
    count: Annotated[int, Field(ge=1, le=50)] = 10
    """How many cycles to read."""


@built_in(
    "Take events that arrived during this cycle into it, and handle them now. The events you leave come with your "
    "next cycle."
)
def peek_inbox(tx: Tx, call: CallContext, input: PeekInbox) -> ToolResult:
    """Takes the events in the transaction that journals the call: each is delivered again only if this cycle fails."""
    arrived = lock_arrivals(tx, call.run.agent_id, wait=True)
    wanted = _that_fit([each for each in arrived if _matches(each.event, input.filter)][: input.count])
    take_arrivals(tx, call.run.id, wanted)
    call.taken = [each.event for each in wanted]
    for each in wanted:
        call.run.was_told(each.delivery.space_id, each.delivery.seq)
    call.run.chain_depth = max([call.run.chain_depth, *(event["chainDepth"] for event in call.taken)])
    return {"success": True, "events": call.taken, "remaining": len(arrived) - len(wanted)}


def _that_fit(wanted: list[Arrival]) -> list[Arrival]:
    """As many events as fit into one result, at least one: the model would never see an event that is truncated
    away."""
    room = MAX_PAGE
    for n, each in enumerate(wanted):
        room -= size_of(each.event)
        if room < 0 and n > 0:
            return wanted[:n]
    return wanted


def _matches(event: EventJson, filter: str | None) -> bool:
    wanted = (filter or "").casefold()
    return any(wanted in str(event.get(name, "")).casefold() for name in _NAMES)


@built_in(
    "End this cycle at once because nothing in the inbox concerns you. Call it as your first action. The events "
    "count as handled, and nothing of the cycle is kept in your memory."
)
def skip(tx: Tx, call: CallContext, input: Skip) -> ToolResult:
    """Only as the first action: anything the agent did has to stay in its memory."""
    if tx.one(_ACTED, {"runs": [call.run.id, *call.run.earlier]}) is not None:
        raise Conflict(
            "not_the_first_act",
            "skip works only as the first action of a cycle, and you have already called a tool. To end the cycle, "
            "answer without calling a tool.",
        )
    call.skipped = (input.reason or "").strip() or "skipped"
    return {"success": True, "status": "skipped"}


@built_in("Read the summaries of your earlier cycles in full. EARLIER CYCLES shows only their beginnings.")
def recall_cycles(tx: Tx, call: CallContext, input: RecallCycles) -> ToolResult:
    asked = cycles.c.agent_id == call.run.agent_id, cycles.c.n >= input.first
    columns = cycles.c.n, cycles.c.summary, cycles.c.created_at
    rows = tx.all(sa.select(*columns).where(*asked).order_by(cycles.c.n).limit(input.count))
    found = [{"n": row.n, "summary": row.summary, "at": iso(row.created_at)} for row in rows]
    return {"success": True, "cycles": found}
