"""Messages: post, page through the history, get one, search, edit, delete, react."""

from __future__ import annotations

import re
from typing import Annotated

import orjson
from fastapi import Query, Request, Response
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from majlis import metrics
from majlis.api.auth import Entry, TheEntry, enter
from majlis.api.bodies import ChangedMessage, HeldEvent, IdText, NewMessage, PageLimit, PathId, reply
from majlis.api.error_responses import handle_error, refusals
from majlis.api.middleware import replayed
from majlis.api.route import new_router
from majlis.errors import Invalid, MajlisError
from majlis.inbox.deliver import post_message
from majlis.inbox.regenerate import regenerate
from majlis.inbox.withdraw import delete_message
from majlis.outside.held import Outgoing, send_for_event
from majlis.runs.view.why import WhyJson, get_why
from majlis.spaces.edit import edit_message, list_versions
from majlis.spaces.history import MessagePageJson, find_by_client_id, get_message, read_page
from majlis.spaces.pins import pin, unpin
from majlis.spaces.post import Draft, Repeated
from majlis.spaces.reactions import react, unreact
from majlis.spaces.search import SearchJson, search
from majlis.spaces.shapes import MessageJson, VersionsJson
from majlis.store import ids

router = new_router("messages")

_POST_TO = re.compile(r"/api/spaces/([^/]+)/messages")
_JSON = frozenset({"application/json", "application/json; charset=utf-8"})

QUERY = (
    'Words and "phrases", and the filters from:NAME, in:SPACE, before:DATE and after:DATE. Put a name with spaces in '
    "quotes. Words also find their other English forms; the last word may be incomplete."
)


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
    message, is_new = await post(entry, space_id, body)
    return reply(message, 201 if is_new else 200)


_CREATE = next(route for route in router.routes if isinstance(route, APIRoute) and route.endpoint is create)


class QuickPost:
    """The short way to `create`: FastAPI's routing, dependencies and exit stacks take a third of the processor time of
    a post. Requests that FastAPI would refuse, and all others, take its way."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        space_id = _posted_to(scope)
        if space_id is None:
            await self.app(scope, receive, send)
            return
        message, request = await receive(), Request(scope)
        body = _body(request, message)
        if body is None:
            await self.app(scope, replayed(message, receive), send)
            return
        # For metrics and spans.
        scope["route"] = _CREATE
        try:
            response = await create(await enter(request), space_id, body)
        except MajlisError as error:
            response = await handle_error(request, error)
        await response(scope, receive, send)


def _posted_to(scope: Scope) -> str | None:
    if scope["type"] != "http" or scope["method"] != "POST":
        return None
    found = _POST_TO.fullmatch(scope["path"])
    return found[1] if found is not None and ids.looks_like_id(found[1]) else None


def _body(request: Request, message: Message) -> NewMessage | None:
    """None unless it has arrived as a whole and is valid. FastAPI's JSON parser accepts all that `orjson` accepts."""
    is_whole = message["type"] == "http.request" and not message.get("more_body")
    if not is_whole or request.headers.get("content-type") not in _JSON:
        return None
    try:
        return NewMessage.model_validate(orjson.loads(message.get("body", b"")))
    except (orjson.JSONDecodeError, ValidationError):
        return None


async def post(entry: Entry, space_id: str, body: NewMessage) -> tuple[MessageJson, bool]:
    """The message, and whether it is new: a repeated client id gets the first message with it."""
    if body.wait is not False and body.inbox is None:
        problem = "wait needs inbox, the event that the message is sent for."
        raise Invalid("wait_without_inbox", problem, {"path": "wait"})
    if body.session_id is not None and body.inbox is not None:
        problem = "A message for an event continues its run. Leave sessionId out."
        raise Invalid("session_with_inbox", problem, {"path": "sessionId"})
    draft = Draft(body.text, body.client_id, body.reply_to, body.mentions, body.session_id, files=body.files)
    try:
        if body.inbox is not None:
            message = await entry.write_brief(send_for_event, space_id, _outgoing(body, body.inbox))
        else:
            message = await entry.write_brief(post_message, space_id, draft)
    except Repeated:
        # The transaction was rolled back; the first message with this client id is the answer (M16).
        return await entry.read(find_by_client_id, space_id, body.client_id or ""), False
    metrics.messages_posted.labels(message["sender"]["type"]).inc()
    return message, True


def _outgoing(body: NewMessage, held: HeldEvent) -> Outgoing:
    wait = body.wait if isinstance(body.wait, bool) else body.wait.model_dump(by_alias=True, exclude_none=True)
    return Outgoing(
        held.id, held.lease, body.text, body.client_id, body.reply_to, tuple(body.mentions), wait, body.files
    )


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


@router.get("/api/messages/{message_id}/why", response_model=WhyJson, responses=refusals(404))
async def get_why_of(entry: TheEntry, message_id: PathId) -> Response:
    """Why the message was sent: hop by hop back to the beginning of its chain, nearest first. What you may not see is
    `hidden`."""
    return reply(await entry.snapshot(get_why, message_id))


@router.patch("/api/messages/{message_id}", response_model=MessageJson, responses=refusals(403, 404, 409))
async def change(entry: TheEntry, message_id: PathId, body: ChangedMessage) -> Response:
    """Change the text of your own message. It wakes no agent."""
    return reply(await entry.write(edit_message, message_id, body.text))


@router.get("/api/messages/{message_id}/versions", response_model=VersionsJson, responses=refusals(403, 404))
async def versions(entry: TheEntry, message_id: PathId) -> Response:
    """The earlier texts of an edited message, oldest first. For its author and admins of the space."""
    return reply(await entry.read(list_versions, message_id))


@router.delete("/api/messages/{message_id}", response_model=MessageJson, responses=refusals(403, 404, 409))
async def delete(entry: TheEntry, message_id: PathId) -> Response:
    """Delete your own message, or any message as an admin of the space. Its number stays; stored copies of its text are
    deleted."""
    return reply(await entry.write(delete_message, message_id))


@router.post("/api/messages/{message_id}/regenerate", response_model=MessageJson, responses=refusals(403, 404, 409))
async def generate_again(entry: TheEntry, message_id: PathId) -> Response:
    """Ask the agent again: deletes its answer and offers it the events that it answered once more. For the person whose
    message it answers, and admins of the space."""
    return reply(await entry.write(regenerate, message_id))


@router.put(
    "/api/messages/{message_id}/reactions/{emoji}", response_model=MessageJson, responses=refusals(403, 404, 409)
)
async def add_reaction(entry: TheEntry, message_id: PathId, emoji: str) -> Response:
    """React with one emoji. Repeating it changes nothing."""
    return reply(await entry.write(react, message_id, emoji))


@router.delete("/api/messages/{message_id}/reactions/{emoji}", response_model=MessageJson, responses=refusals(404))
async def remove_reaction(entry: TheEntry, message_id: PathId, emoji: str) -> Response:
    return reply(await entry.write(unreact, message_id, emoji))


@router.put("/api/messages/{message_id}/pin", response_model=MessageJson, responses=refusals(403, 404, 409))
async def pin_message(entry: TheEntry, message_id: PathId) -> Response:
    """Pin a message to its space, which can have 50 pins. Repeating it changes nothing."""
    return reply(await entry.write(pin, message_id))


@router.delete("/api/messages/{message_id}/pin", response_model=MessageJson, responses=refusals(403, 404))
async def unpin_message(entry: TheEntry, message_id: PathId) -> Response:
    return reply(await entry.write(unpin, message_id))


@router.get("/api/search", response_model=SearchJson, responses=refusals(404))
async def find(
    entry: TheEntry,
    q: Annotated[str, Query(min_length=1, max_length=256, description=QUERY)],
    space_id: Annotated[IdText | None, Query(alias="spaceId")] = None,
    limit: PageLimit = 50,
    before: Annotated[IdText | None, Query(description="The last message of the previous page.")] = None,
) -> Response:
    return reply(await entry.read(search, q, space_id, limit, before))
