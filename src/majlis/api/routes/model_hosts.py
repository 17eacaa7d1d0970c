"""The hosts at which models may be reached with a key."""

from __future__ import annotations

from fastapi import Response

from majlis.api.auth import TheEntry, TheGateway
from majlis.api.bodies import ModelHosts, reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.models.owner_hosts import ModelHostsJson, put_model_hosts, show_model_hosts

router = new_router("models")


@router.get("/api/model-hosts", response_model=ModelHostsJson, responses=refusals())
async def show(gateway: TheGateway, entry: TheEntry) -> Response:
    """The hosts that models may be on. For the owner and admins."""
    return reply(await entry.read(show_model_hosts, gateway.settings.model_hosts))


@router.put("/api/model-hosts", response_model=ModelHostsJson, responses=refusals())
async def put(gateway: TheGateway, entry: TheEntry, body: ModelHosts) -> Response:
    """Replaces the list of allowed hosts. For the owner only."""
    return reply(await entry.write(put_model_hosts, gateway.settings.model_hosts, body.hosts))
