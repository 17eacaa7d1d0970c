"""Live events as Server-Sent Events: one space, or all of the caller's spaces and its own notices.

Not by a library: there is one small task per open stream, one timer for all heartbeats, and a client that stops
reading is disconnected at the socket.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import orjson
from fastapi import Header, Query
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from majlis import metrics
from majlis.api.auth import TheEntry, TheGateway
from majlis.api.bodies import PathId
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.cards.queries import open_cards
from majlis.entities.tokens import invalid_token
from majlis.gateway import Gateway
from majlis.live.hub import Hub
from majlis.live.stream import Stream
from majlis.runs.view.queries import active_agents, spaces_of
from majlis.spaces.access import access_space, unknown_space
from majlis.store.transactions import Tx

router = new_router("live")

ABORT = "majlis.abort"
_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),  # tells proxies not to buffer events
]
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "Events."}
}
LastEventId = Annotated[str | None, Header(alias="Last-Event-ID", max_length=16_384)]
LastEventIdParam = Annotated[str | None, Query(alias="lastEventId", max_length=16_384)]


@router.get("/api/spaces/{space_id}/events", response_class=Response, responses={**_STREAM, **refusals(404)})
async def follow_space(
    gateway: TheGateway,
    entry: TheEntry,
    space_id: PathId,
    header: LastEventId = None,
    last_event_id: LastEventIdParam = None,
) -> Response:
    caller = await entry.caller()
    await entry.read(access_space, space_id)

    async def state() -> str:
        return await _state(gateway, [space_id], caller.id, space_id)

    stream = await gateway.hub.open_space(caller, space_id, header or last_event_id, state)
    if stream is None:
        raise unknown_space(space_id)
    return EventStream(gateway.hub, stream)


@router.get("/api/events", response_class=Response, responses={**_STREAM, **refusals()})
async def follow_all(
    gateway: TheGateway,
    entry: TheEntry,
    header: LastEventId = None,
    last_event_id: LastEventIdParam = None,
    presence: Annotated[
        bool, Query(description="For apps of people: you are online while the stream is open, and it says who else is.")
    ] = False,
) -> Response:
    caller = await entry.caller()
    presence = presence and caller.type == "human"

    async def state() -> str:
        online = {"online": await gateway.hub.presence.online_for(caller.id)} if presence else {}
        return await _state(gateway, await gateway.db.read(spaces_of, caller.id), caller.id, None, online)

    stream = await gateway.hub.open_gateway(caller, header or last_event_id, state, presence)
    if stream is None:
        raise invalid_token()
    return EventStream(gateway.hub, stream)


class EventStream(Response):
    def __init__(self, hub: Hub, stream: Stream) -> None:
        self._hub = hub
        self._stream = stream
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        stream = self._stream
        stream.cut_off = scope.get(ABORT)
        disconnect = asyncio.create_task(_close_on_disconnect(receive, stream))
        metrics.open_streams.inc()
        try:
            await send({"type": "http.response.start", "status": 200, "headers": list(_HEADERS)})
            async for chunk in stream.chunks():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            disconnect.cancel()
            metrics.open_streams.dec()
            self._hub.leave(stream)


async def _close_on_disconnect(receive: Receive, stream: Stream) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    stream.close()


async def _state(
    gateway: Gateway, space_ids: list[str], entity_id: str, space_id: str | None, more: dict[str, Any] | None = None
) -> str:
    """The data of `connected`, read after the stream has subscribed, so that no change is missed."""

    def current(tx: Tx) -> dict[str, Any]:
        return {
            "type": "connected",
            "activeAgents": active_agents(tx, space_ids),
            "pendingToolCalls": open_cards(tx, entity_id, space_id),
        }

    streams = {"streams": gateway.hub.texts_in_progress(space_ids)}
    return orjson.dumps(await gateway.db.read(current) | streams | (more or {})).decode()
