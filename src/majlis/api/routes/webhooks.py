"""Incoming webhooks with the addresses that other programs post to, and outgoing webhooks (D4)."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from pydantic import Field, StringConstraints
from starlette.responses import Response

from majlis.api.auth import TheEntry, TheGateway, base_url
from majlis.api.bodies import Body, IdText, PageLimit, PathId, nothing, reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.entities.caller import require_administrator
from majlis.errors import Forbidden, Invalid, Unavailable
from majlis.gateway import Gateway
from majlis.secret_store import NAME, PREFIX
from majlis.spaces.post import Repeated
from majlis.webhooks.incoming import (
    IncomingWebhookJson,
    create_incoming,
    delete_incoming,
    find_incoming,
    list_incoming,
    receive,
)
from majlis.webhooks.outgoing import (
    EventType,
    NewOutgoingWebhookJson,
    OutgoingWebhookJson,
    WebhookDeliveryJson,
    check_url,
    create_outgoing,
    delete_outgoing,
    list_outgoing,
    list_webhook_deliveries,
    require_may_create,
    retry_webhook_delivery,
)
from majlis.webhooks.template import MAX_TEMPLATE, parse_payload
from majlis.webhooks.verify import Scheme, check_secret, verify

router = new_router("webhooks")

Id = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class Verification(Body):
    scheme: Scheme
    secret: Annotated[str, StringConstraints(pattern=f"^{PREFIX}{NAME}$")] | None = Field(
        default=None, description="`secret:NAME`, a stored secret. Needed except for the scheme `none`."
    )


class NewIncomingWebhook(Body):
    name: Annotated[str, StringConstraints(max_length=200)] = Field(description="The name of its service.")
    space_id: Id | None = Field(default=None, alias="spaceId", description="The space it posts in.")
    agent_id: Id | None = Field(default=None, alias="agentId", description="The agent it triggers, or mentions.")
    verify: Verification
    template: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEMPLATE)] | None = Field(
        default=None, description="The text, with `{{payload.field}}` and `{{headers.name}}`."
    )


class NewOutgoingWebhook(Body):
    url: Annotated[str, StringConstraints(min_length=1, max_length=2000)] = Field(
        description="The URL to send the events to. The settings `tool_hosts` and `tool_private_hosts` allow it."
    )
    space_id: IdText | None = Field(
        default=None, description="Only the events of this space. Default: of all your spaces, for owner and admins."
    )
    agent_id: IdText | None = Field(
        default=None, description="An outside agent: its events are sent with their leases. For owner and admins."
    )
    events: Annotated[list[EventType], Field(max_length=50)] = Field(
        default_factory=list,
        description="The types of events as in the live stream, or `*` for all. Needed except with `agentId`.",
    )


@router.get("/api/incoming-webhooks", response_model=list[IncomingWebhookJson], responses=refusals())
async def list_all(request: Request, entry: TheEntry) -> Response:
    """The incoming webhooks with their addresses. For the owner and admins."""
    return reply(await entry.read(list_incoming, base_url(request)))


@router.post(
    "/api/incoming-webhooks", status_code=201, response_model=IncomingWebhookJson, responses=refusals(404, 409)
)
async def create(request: Request, gateway: TheGateway, entry: TheEntry, body: NewIncomingWebhook) -> Response:
    """Creates a service and the `url` that another program posts to. For the owner and admins."""
    # First, so that members cannot find out which secrets are stored.
    require_administrator(await entry.caller())
    scheme, name = body.verify.scheme, (body.verify.secret or "").removeprefix(PREFIX) or None
    if (name is None) != (scheme == "none"):
        problem = "needs no secret" if scheme == "none" else 'needs a secret, such as "secret:GITHUB"'
        raise Invalid("invalid_verify", f"The scheme {scheme} {problem}.", {"path": "verify.secret"})
    if name is not None:
        check_secret(scheme, await _secret(gateway, name))
    where = base_url(request), body.name, body.space_id, body.agent_id
    return reply(await entry.write(create_incoming, *where, scheme, name, body.template), 201)


@router.delete("/api/incoming-webhooks/{webhook_id}", status_code=204, responses=refusals(404))
async def delete(entry: TheEntry, webhook_id: str) -> Response:
    """Deletes the webhook: its address stops working and its service is removed. Its messages stay."""
    await entry.write(delete_incoming, webhook_id)
    return nothing()


@router.post("/hooks/{address}", include_in_schema=False)
async def post(request: Request, gateway: TheGateway, address: str) -> Response:
    """Needs no token: the webhook's own scheme decides whether the request is accepted."""
    request.app.state.caller_limit.spend(f"hook:{address[:64]}")
    hook = await gateway.db.read(find_incoming, address)
    body = await request.body()
    headers = {name.lower(): value for name, value in request.headers.items()}
    try:
        secret = await _secret(gateway, hook.secret) if hook.secret is not None else None
    except Forbidden:
        problem = "The secret of this webhook is not stored. Ask an admin of this gateway to store it."
        raise Unavailable("unknown_secret", problem) from None
    verify(hook.scheme, secret, headers, body)
    payload = parse_payload(headers.get("content-type", ""), body)
    try:
        return reply(await gateway.db.write(receive, address, payload, headers))
    except Repeated:
        return reply({"posted": True, "duplicate": True})


@router.post(
    "/api/outgoing-webhooks",
    status_code=201,
    response_model=NewOutgoingWebhookJson,
    responses=refusals(403, 404, 409, 503),
)
async def create_sender(gateway: TheGateway, entry: TheEntry, body: NewOutgoingWebhook) -> Response:
    """Send events of a space, or of an outside agent, to a URL, signed with the `secret`, which is shown once. For
    admins of the space; for all your spaces and for agents: for the owner and admins."""
    caller = await entry.caller()
    await entry.read(require_may_create, body.space_id)
    await gateway.webhooks.check(check_url(body.url), caller.administers)
    wanted = body.url, body.space_id, body.events, body.agent_id
    return reply(await entry.write(create_outgoing, gateway.webhooks.cipher, *wanted), 201)


@router.get("/api/outgoing-webhooks", response_model=list[OutgoingWebhookJson], responses=refusals())
async def list_senders(entry: TheEntry) -> Response:
    """Your own webhooks, and those of spaces that you administer. The owner and admins see all."""
    return reply(await entry.read(list_outgoing))


@router.delete("/api/outgoing-webhooks/{webhook_id}", status_code=204, responses=refusals(404))
async def delete_sender(entry: TheEntry, webhook_id: PathId) -> Response:
    """Deletes the webhook with its queue and its log."""
    await entry.write(delete_outgoing, webhook_id)
    return nothing()


@router.get(
    "/api/outgoing-webhooks/{webhook_id}/deliveries", response_model=list[WebhookDeliveryJson], responses=refusals(404)
)
async def list_deliveries(
    entry: TheEntry,
    webhook_id: PathId,
    limit: PageLimit = 50,
    before: Annotated[IdText | None, Query(description="The last delivery of the previous page.")] = None,
) -> Response:
    """Deliveries that were sent or are in the queue, newest first."""
    return reply(await entry.read(list_webhook_deliveries, webhook_id, limit, before))


@router.post(
    "/api/outgoing-webhooks/{webhook_id}/deliveries/{delivery_id}/retry",
    status_code=202,
    response_model=WebhookDeliveryJson,
    responses=refusals(404, 409),
)
async def retry(entry: TheEntry, webhook_id: PathId, delivery_id: PathId) -> Response:
    """Send it again, with the same `webhook-id`."""
    return reply(await entry.write(retry_webhook_delivery, webhook_id, delivery_id), 202)


async def _secret(gateway: Gateway, name: str) -> str:
    return (await gateway.secrets.get(name)).value
