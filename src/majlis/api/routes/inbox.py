"""Deliveries to agents, their inboxes and cycles, and events from services."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from majlis.api.auth import TheEntry
from majlis.api.bodies import PageLimit, PathId, ServiceEvent, reply
from majlis.api.error_responses import refusals
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

router = APIRouter(tags=["inbox"])

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
