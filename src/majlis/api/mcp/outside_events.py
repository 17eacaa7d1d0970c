"""`take_events`, `renew_event` and `settle_event`, for outside agents (D2)."""

from __future__ import annotations

from majlis.api.bodies import IdText, Renewal, Settlement, Take
from majlis.api.mcp.tool import Call, Tool
from majlis.api.routes.inbox import take_within
from majlis.outside.held import LeaseJson, SettledJson, renew_event, settle_event
from majlis.outside.take import TakenEventsJson
from majlis.runs.claim.lease import OUTSIDE_LEASE_MILLIS


class RenewEvent(Renewal):
    id: IdText


class SettleEvent(Settlement):
    id: IdText


async def _take_events(call: Call, input: Take) -> TakenEventsJson:
    return await take_within(call.gateway, call.entry, input, call.goes_on(input.wait_seconds))


async def _renew_event(call: Call, input: RenewEvent) -> LeaseJson:
    return await call.entry.write_brief(renew_event, input.id, input.lease)


async def _settle_event(call: Call, input: SettleEvent) -> SettledJson:
    return await call.entry.write_brief(settle_event, input.id, input.lease, input.state, input.reason)


_LEASE_SECONDS = OUTSIDE_LEASE_MILLIS // 1000
_ONLY = 'Only for agents whose mind is "outside", with a token of the agent.'

TAKE_EVENTS = Tool(
    "take_events",
    "Take events",
    f"Take events that wait for you. Each has a lease of {_LEASE_SECONDS} seconds. Answer with "
    f"send_message and its inbox, then call settle_event. {_ONLY}",
    ("write",),
    Take,
    TakenEventsJson,
    _take_events,
)
RENEW_EVENT = Tool(
    "renew_event",
    "Renew an event",
    f"Hold an event for another {_LEASE_SECONDS} seconds. {_ONLY}",
    ("write",),
    RenewEvent,
    LeaseJson,
    _renew_event,
    is_idempotent=True,
)
SETTLE_EVENT = Tool(
    "settle_event",
    "Settle an event",
    f"End your work on an event: done, passed (you chose not to act) or failed. {_ONLY}",
    ("write",),
    SettleEvent,
    SettledJson,
    _settle_event,
    is_idempotent=True,
)
