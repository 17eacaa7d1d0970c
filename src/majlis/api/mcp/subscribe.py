"""Notifications of changed resources, for clients of the protocol of 2026-07-28: the response to
`subscriptions/listen` is the stream, so nothing is stored and any process can serve it."""

from __future__ import annotations

from typing import Any

import orjson
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import SUBSCRIPTION_ID_META_KEY

from majlis.api.auth import Entry
from majlis.api.mcp.resources import SPACE
from majlis.api.mcp.tool import Call
from majlis.api.mcp.watch import watching
from majlis.gateway import Gateway
from majlis.sse import ServerEvent

_MEMBERSHIP = frozenset({"space.member.joined", "space.member.left", "space.updated", "resync"})
_FOREVER = float("inf")


async def listen(
    gateway: Gateway, entry: Entry, ctx: ServerRequestContext[Any, Any], asked: types.SubscriptionFilter
) -> types.SubscriptionsListenResult:
    """Follows the caller's spaces until the client disconnects or the token ends."""
    caller = await entry.caller()
    wanted = {uri for uri in asked.resource_subscriptions or () if uri.startswith(SPACE)}
    honored = types.SubscriptionFilter(
        resources_list_changed=asked.resources_list_changed or None, resource_subscriptions=sorted(wanted) or None
    )
    meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: ctx.request_id}

    async def send(notification: Any) -> None:
        await ctx.session.send_notification(notification, related_request_id=ctx.request_id)

    async with watching(Call(gateway, entry, _silent), caller, None, None) as watch:
        params = types.SubscriptionsAcknowledgedNotificationParams(notifications=honored, _meta=meta)
        await send(types.SubscriptionsAcknowledgedNotification(params=params))
        while True:
            while watch.events:
                event = watch.events.popleft()
                for uri in sorted(_changed(event, wanted)):
                    updated = types.ResourceUpdatedNotificationParams(uri=uri, _meta=meta)
                    await send(types.ResourceUpdatedNotification(params=updated))
                if honored.resources_list_changed and event.type in _MEMBERSHIP:
                    changed = types.NotificationParams(_meta=meta)
                    await send(types.ResourceListChangedNotification(params=changed))
            if watch.ended:
                return types.SubscriptionsListenResult(_meta=meta)
            await watch.next(_silent, _FOREVER)


def _changed(event: ServerEvent, wanted: set[str]) -> set[str]:
    if event.type == "resync":
        return wanted
    space = orjson.loads(event.data).get("spaceId")
    return {f"{SPACE}{space}"} & wanted


async def _silent(_: float, __: float) -> None:
    return None
