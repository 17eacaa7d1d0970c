"""Asks: questions that programs put to a space, and their answers (D5)."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Header, Query, Request, Response

from majlis.api.auth import Entry, TheEntry, TheGateway
from majlis.api.bodies import AskResult, NewAsk, PathId, ShortLine, reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.asks.answer import answer_ask
from majlis.asks.ask import Asking, ask, repeated_ask
from majlis.asks.queries import AskJson, read_ask
from majlis.gateway import Gateway
from majlis.spaces.post import Repeated

router = new_router("asks")


@router.post(
    "/api/asks",
    status_code=201,
    response_model=AskJson,
    responses={
        200: {"model": AskJson, "description": "The clientId was used before: the first ask with it."},
        **refusals(403, 404, 409),
    },
)
async def create(
    entry: TheEntry,
    body: NewAsk,
    key: Annotated[ShortLine | None, Header(alias="Idempotency-Key", description="Instead of `clientId`.")] = None,
) -> Response:
    """Put a question to the members of a space. They answer on a card; a text or a choice also with a reply."""
    found, is_new = await put(entry, body, body.client_id or key)
    return reply(found, 201 if is_new else 200)


async def put(entry: Entry, body: NewAsk, client_id: str | None) -> tuple[AskJson, bool]:
    """The ask, and whether it is new: a repeated client id gets the first ask with it."""
    asking = Asking(
        body.space_id,
        body.kind,
        body.question,
        body.options,
        body.schema_,
        body.from_,
        body.need,
        body.within,
        client_id,
    )
    try:
        return await entry.write(ask, asking), True
    except Repeated:
        return await entry.read(repeated_ask, asking), False


@router.get("/api/asks/{ask_id}", response_model=AskJson, responses=refusals(404, 429))
async def get_one(
    request: Request,
    gateway: TheGateway,
    entry: TheEntry,
    ask_id: PathId,
    wait_seconds: Annotated[
        float, Query(alias="waitSeconds", ge=0, le=30, description="How long to wait for its end while it is open.")
    ] = 0,
) -> Response:
    """The ask with its answers. A late answer came after the end and does not count."""
    return reply(await until_over(gateway, entry, ask_id, wait_seconds, request.is_disconnected))


async def until_over(
    gateway: Gateway, entry: Entry, ask_id: str, seconds: float, is_gone: Callable[[], Awaitable[bool]]
) -> AskJson:
    """Waits for the end of the ask, at most so long or until the client is gone."""
    found = await entry.read(read_ask, ask_id)
    if found["status"] != "open" or seconds == 0:
        return found
    ends = time.monotonic() + seconds
    polls = gateway.ask_polls
    with polls.open((await entry.caller()).id) as woken:
        while True:
            woken.clear()
            found = await entry.read(read_ask, ask_id)
            left = ends - time.monotonic()
            if found["status"] != "open" or left <= 0 or polls.ended or await is_gone():
                return found
            await polls.wait(woken, left)


@router.post("/api/asks/{ask_id}/answers", response_model=AskJson, responses=refusals(403, 404, 409))
async def answer(entry: TheEntry, ask_id: PathId, body: AskResult) -> Response:
    """Answer an ask. Your first valid answer counts; one after the end is kept as `late`. 422: the result does not
    match the schema, and nothing is changed."""
    return reply(await entry.write(answer_ask, ask_id, body.result))
