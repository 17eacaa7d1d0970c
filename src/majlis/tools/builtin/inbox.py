"""`peek_inbox`: what has arrived during a cycle is taken into it, instead of waiting for the next (K5)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from majlis.inbox.trigger import EventJson
from majlis.runs.calls.context import Acting, ToolResult
from majlis.runs.claim.arrivals import Arrival, lock_arrivals, take_arrivals
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import BuiltIn, Input
from majlis.tools.reading import MAX_PAGE, size_of

_NAMES = ("type", "spaceName", "senderName", "planName", "serviceName", "toolName")


class PeekInbox(Input):
    count: Annotated[int, Field(ge=1, le=50)] = 1
    """How many events to take, people's first."""
    filter: Annotated[str, Field(min_length=1, max_length=128)] | None = None
    """Only events whose type, space, sender, plan, service or tool has this in its name."""


def peek_inbox(tx: Tx, acting: Acting, input: PeekInbox) -> ToolResult:
    """Taken in the transaction that journals the call: delivered once, and again only if this cycle fails."""
    arrived = lock_arrivals(tx, acting.id, wait=True)
    wanted = _fitting([each for each in arrived if _matches(each.event, input.filter)][: input.count])
    take_arrivals(tx, acting.run_id, wanted)
    acting.taken = [each.event for each in wanted]
    acting.chain_depth = max([acting.chain_depth, *(event["chainDepth"] for event in acting.taken)])
    return {"success": True, "events": acting.taken, "remaining": len(arrived) - len(wanted)}


def _fitting(wanted: list[Arrival]) -> list[Arrival]:
    """As many as fit into one result, and one at least: what is taken and cut off would be read by nobody."""
    room = MAX_PAGE
    for n, each in enumerate(wanted):
        room -= size_of(each.event)
        if room < 0 and n > 0:
            return wanted[:n]
    return wanted


def _matches(event: EventJson, filter: str | None) -> bool:
    wanted = (filter or "").casefold()
    return any(wanted in str(event.get(name, "")).casefold() for name in _NAMES)


TOOL = BuiltIn(
    "peek_inbox",
    "Take events that have arrived during this cycle into it, to deal with them now. What you leave comes with your "
    "next cycle.",
    PeekInbox,
    peek_inbox,
)
