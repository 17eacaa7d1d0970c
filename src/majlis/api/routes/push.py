"""Web push: subscribe browsers, and tell whether the person looks at the app."""

from __future__ import annotations

from typing import Annotated

from fastapi import Request, Response
from pydantic import Field, StringConstraints

from majlis.api.auth import TheEntry, TheGateway, base_url
from majlis.api.bodies import Body, nothing, reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.clock import is_timezone
from majlis.errors import Invalid
from majlis.push.subscriptions import (
    ActiveJson,
    PushJson,
    check_keys,
    count_browsers,
    require_person,
    set_active,
    subscribe,
    unsubscribe,
)

router = new_router("entities")

Endpoint = Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=r"^[!-~]+$")]
Base64 = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9_-]+$")]


class PushKeys(Body):
    p256dh: Base64 = Field(alias="p256dh")
    auth: Base64


class NewPushSubscription(Body):
    endpoint: Endpoint = Field(description="From the browser's `PushSubscription`, like the keys.")
    keys: PushKeys
    time_zone: Annotated[str, StringConstraints(max_length=64)] = Field(
        default="UTC", description="The browser's time zone, an IANA name. Quiet hours are in this time zone."
    )


class PushEndpoint(Body):
    endpoint: Endpoint


class Activity(Body):
    active: bool = Field(description="True while the person looks at the app. Repeat it every 40 seconds.")


@router.get("/api/me/push", response_model=PushJson, responses=refusals())
async def get_push(entry: TheEntry, gateway: TheGateway) -> Response:
    """Returns the key that browsers subscribe with, and how many of yours are subscribed. For people."""
    browsers = await entry.read(count_browsers)
    return reply({"publicKey": await gateway.pushes.public_key(), "browsers": browsers})


@router.put("/api/me/push", status_code=204, responses=refusals())
async def put_push(entry: TheEntry, gateway: TheGateway, request: Request, body: NewPushSubscription) -> Response:
    """Subscribes a browser until the session of this request ends, or renews its subscription. Pushes contain messages,
    so the token also needs the scope `read`."""
    caller = await entry.caller()
    require_person(caller)
    if not is_timezone(body.time_zone):
        raise Invalid("invalid_request", "timeZone is not an IANA time zone.", {"path": "timeZone"})
    check_keys(body.keys.p256dh, body.keys.auth)
    await gateway.pushes.check(body.endpoint, caller.administers)
    origin = base_url(request)[:256]
    await entry.write(subscribe, body.endpoint, body.keys.p256dh, body.keys.auth, origin, body.time_zone)
    return nothing()


@router.post("/api/me/push/unsubscribe", status_code=204, responses=refusals())
async def unsubscribe_push(entry: TheEntry, body: PushEndpoint) -> Response:
    """Ends the subscription of a browser."""
    await entry.write(unsubscribe, body.endpoint)
    return nothing()


@router.put("/api/me/active", response_model=ActiveJson, responses=refusals())
async def put_active(entry: TheEntry, body: Activity) -> Response:
    """Tells whether you look at the app. If you do, pushes to your browsers wait for a minute."""
    return reply(await entry.write(set_active, body.active))
