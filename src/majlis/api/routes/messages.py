"""Messages: post, page through the history, get one, search."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from majlis import metrics
from majlis.api.auth import TheEntry
from majlis.api.bodies import IdText, NewMessage, PageLimit, PathId, reply
from majlis.api.error_responses import refusals
from majlis.inbox.deliver import post_message
from majlis.spaces.history import MessagePageJson, find_by_client_id, get_message, read_page
from majlis.spaces.post import Draft, Repeated
from majlis.spaces.search import SearchJson, search
from majlis.spaces.shapes import MessageJson

router = APIRouter(tags=["messages"])


@router.post(
    "/api/spaces/{space_id}/messages",
    status_code=201,
    response_model=MessageJson,
    responses={
        200: {"model": MessageJson, "description": "The clientId was used before: the first message with it."},
        **refusals(404, 409),
    },
)
async def create(entry: TheEntry, space_id: PathId, body: NewMessage) -> Response:
    draft = Draft(body.text, body.client_id, body.reply_to, body.mentions, body.session_id)
    try:
        message = await entry.write_brief(post_message, space_id, draft)
    except Repeated:
        # The transaction was rolled back; the first message with this client id is the answer (M16).
        return reply(await entry.read(find_by_client_id, space_id, body.client_id or ""))
    metrics.messages_posted.labels(message["sender"]["type"]).inc()
    return reply(message, 201)


@router.get("/api/spaces/{space_id}/messages", response_model=MessagePageJson, responses=refusals(404))
async def list_of_space(
    entry: TheEntry,
    space_id: PathId,
    limit: PageLimit = 50,
    before: Annotated[IdText | None, Query(description="Only messages before this one.")] = None,
    after: Annotated[IdText | None, Query(description="Only messages after this one.")] = None,
) -> Response:
    return reply(await entry.read(read_page, space_id, limit, before, after))


@router.get("/api/messages/{message_id}", response_model=MessageJson, responses=refusals(404))
async def get_one(entry: TheEntry, message_id: PathId) -> Response:
    return reply(await entry.read(get_message, message_id))


@router.get("/api/search", response_model=SearchJson, responses=refusals(404))
async def find(
    entry: TheEntry,
    q: Annotated[str, Query(min_length=1, max_length=256, description="Words; the last may be incomplete.")],
    space_id: Annotated[IdText | None, Query(alias="spaceId")] = None,
    limit: PageLimit = 50,
    before: Annotated[IdText | None, Query(description="The last message of the previous page.")] = None,
) -> Response:
    return reply(await entry.read(search, q, space_id, limit, before))
