"""Deliveries to agents, their inboxes and cycles, and events from services."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Query, Request, Response

from majlis.api.auth import Entry, TheEntry, TheGateway
from majlis.api.bodies import PageLimit, PathId, Renewal, ServiceEvent, Settlement, Take, reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.gateway import Gateway
from majlis.inbox.queries import (
    CyclePageJson,
    DeliveryJson,
    MessageDeliveryJson,
    list_cycles,
    list_deliveries,
    list_inbox,
)
from majlis.inbox.retry import retry_delivery
from majlis.inbox.services import TriggeredJson, trigger_agent
from majlis.outside.held import LeaseJson, SettledJson, give_back, renew_event, settle_event
from majlis.outside.take import TakenEventsJson, has_events, outside_id, take_events

router = new_router("inbox")

_MAX_NUMBER = 2**63 - 1


@router.get("/api/messages/{message_id}/deliveries", response_model=list[MessageDeliveryJson], responses=refusals(404))
async def list_of_message(entry: TheEntry, message_id: PathId) -> Response:
    """The delivery of this message to each agent: its state, and the run that handles it."""
    return reply(await entry.read(list_deliveries, message_id))


@router.post(
    "/api/messages/{message_id}/deliveries/{agent_id}/retry",
    status_code=202,
    response_model=list[MessageDeliveryJson],
    responses=refusals(404, 409),
)
async def retry(entry: TheEntry, message_id: PathId, agent_id: PathId) -> Response:
    """Deliver the message to this agent again. 409 unless its delivery has failed."""
    return reply(await entry.write(retry_delivery, message_id, agent_id), 202)


@router.post("/api/inbox/take", response_model=TakenEventsJson, responses=refusals(403, 429))
async def take(request: Request, gateway: TheGateway, entry: TheEntry, body: Take) -> Response:
    """Take events of an outside agent, with its token. Each has a lease that ends at `leaseUntil`."""
    return reply(await take_within(gateway, entry, body, request.is_disconnected))


async def take_within(
    gateway: Gateway, entry: Entry, body: Take, is_gone: Callable[[], Awaitable[bool]]
) -> TakenEventsJson:
    """Waits for an event as long as the body says, or until the client is gone."""
    ends = time.monotonic() + body.wait_seconds
    polls = gateway.polls
    with polls.open(await entry.read(outside_id)) as woken:
        while True:
            woken.clear()
            if await entry.read(has_events) and not await is_gone():
                taken = await entry.write(take_events, body.max, gateway.engine.budgets)
                if taken["events"]:
                    # A client that has gone must not hold an event.
                    if await is_gone():
                        await entry.write(give_back, taken["events"])
                    return taken
            left = ends - time.monotonic()
            if left <= 0 or polls.ended or await is_gone():
                return {"events": []}
            await polls.wait(woken, left)


@router.post("/api/inbox/{delivery_id}/renew", response_model=LeaseJson, responses=refusals(404, 409))
async def renew(entry: TheEntry, delivery_id: PathId, body: Renewal) -> Response:
    """Renew the lease of an event. 409 if the lease has ended."""
    return reply(await entry.write_brief(renew_event, delivery_id, body.lease))


@router.post("/api/inbox/{delivery_id}/settle", response_model=SettledJson, responses=refusals(404, 409))
async def settle(entry: TheEntry, delivery_id: PathId, body: Settlement) -> Response:
    """End the work on an event. 409 if the lease has ended."""
    return reply(await entry.write_brief(settle_event, delivery_id, body.lease, body.state, body.reason))


@router.get("/api/agents/{agent_id}/inbox", response_model=list[DeliveryJson], responses=refusals(404))
async def list_of_agent(entry: TheEntry, agent_id: PathId, limit: PageLimit = 50) -> Response:
    """The agent's pending and active deliveries, oldest first."""
    return reply(await entry.read(list_inbox, agent_id, limit))


@router.get("/api/agents/{agent_id}/consciousness", response_model=CyclePageJson, responses=refusals(404))
async def list_cycles_of(
    entry: TheEntry,
    agent_id: PathId,
    limit: PageLimit = 20,
    before: Annotated[
        int | None, Query(ge=0, le=_MAX_NUMBER, description="The number of the last cycle of the previous page.")
    ] = None,
) -> Response:
    """The cycles of a consciousness, newest first."""
    return reply(await entry.read(list_cycles, agent_id, limit, before))


@router.post("/api/agents/{agent_id}/trigger", status_code=202, response_model=TriggeredJson, responses=refusals(404))
async def trigger(entry: TheEntry, agent_id: PathId, body: ServiceEvent) -> Response:
    """Trigger an agent with an event from a service. A repeated eventId of the same caller is delivered once (P5)."""
    arguments = body.service_name, body.payload, body.event_id
    return reply(await entry.write_brief(trigger_agent, agent_id, *arguments), 202)
