"""`wait_for_messages`: a long call that ends with the first messages of others after a cursor.

Live events only say when to look; the messages come from the database, which checks the token and the membership again.
In one space a cursor is the number of a message, and never gets old. Over all spaces it is that of a live stream.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Annotated

import orjson
from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from majlis.api.bodies import Body, IdText
from majlis.api.mcp.tool import Call, Tool
from majlis.api.mcp.watch import Watch, watching
from majlis.entities.caller import Caller
from majlis.errors import Invalid
from majlis.live.cursor import parse_gateway_cursor
from majlis.spaces.access import access_space
from majlis.spaces.history import access_message, read_after, read_by_id
from majlis.spaces.shapes import MessageJson
from majlis.store import ids
from majlis.store.transactions import Tx

_NUMBER = re.compile(r"(spc_[0-9a-z]{16})\.(\d{1,15})", re.ASCII)


class WaitForMessages(Body):
    space_id: IdText | None = Field(default=None, description="Default: all your spaces.")
    cursor: Annotated[str, StringConstraints(min_length=1, max_length=16_384)] | None = Field(
        default=None,
        description="The cursor of your last call, or with spaceId the id of a message: what came after it is returned "
        "at once. Default: messages from now on.",
    )
    wait_seconds: Annotated[int | float, Field(ge=0, le=300)] = 30
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class NewMessagesJson(TypedDict):
    """With `missed` the cursor is too old to list all messages since then: read the spaces with read_messages."""

    messages: list[MessageJson]
    cursor: str
    missed: bool


# Returns None to go on waiting; `at_end` when the time is over.
Look = Callable[[bool], Awaitable[NewMessagesJson | None]]


async def _wait_for_messages(call: Call, input: WaitForMessages) -> NewMessagesJson:
    caller = await call.entry.caller()
    if input.space_id is not None:
        at = await call.entry.read(_position, input.space_id, input.cursor)
        async with watching(call, caller, input.space_id, None) as watch:
            return await _until_found(call, input, watch, _in_space(call, caller, input, watch, at))
    if input.cursor is not None and parse_gateway_cursor(input.cursor, caller.id) is None:
        problem = "cursor is not from a call without spaceId. Send the spaceId that it belongs to, or leave it out."
        raise Invalid("bad_cursor", problem, {"path": "cursor"})
    async with watching(call, caller, None, input.cursor) as watch:
        return await _until_found(call, input, watch, _in_all_spaces(call, caller, input, watch))


async def _until_found(call: Call, input: WaitForMessages, watch: Watch, look: Look) -> NewMessagesJson:
    while True:
        found = await look(watch.ended)
        if found is not None:
            return found
        if not await watch.next(call.progress, input.wait_seconds):
            watch.end()


def _in_space(call: Call, caller: Caller, input: WaitForMessages, watch: Watch, at: int) -> Look:
    space_id = input.space_id or ""

    async def look(at_end: bool) -> NewMessagesJson | None:
        nonlocal at
        watch.events.clear()
        while True:
            found, at = await call.entry.read(read_after, space_id, at, input.limit)
            others = _of_others(caller, found)
            if others or (at_end and len(found) < input.limit):
                return {"messages": others, "cursor": f"{space_id}.{at}", "missed": False}
            if len(found) < input.limit:
                return None

    return look


def _in_all_spaces(call: Call, caller: Caller, input: WaitForMessages, watch: Watch) -> Look:
    async def look(at_end: bool) -> NewMessagesJson | None:
        new: list[str] = []
        missed = False
        while watch.events and len(new) < input.limit and not missed:
            event = watch.events.popleft()
            watch.cursor = event.id
            missed = event.type == "resync"
            if event.type == "space.message":
                message = orjson.loads(event.data)["message"]
                # Others are changes of earlier messages.
                if not message.get("revision") and message["sender"]["id"] != caller.id:
                    new.append(message["id"])
        others = _of_others(caller, await call.entry.read(read_by_id, new)) if new or at_end else []
        if not (others or missed or (at_end and not watch.events)):
            return None
        return {"messages": others, "cursor": watch.cursor, "missed": missed}

    return look


def _of_others(caller: Caller, found: list[MessageJson]) -> list[MessageJson]:
    return [each for each in found if each["sender"]["id"] != caller.id and not each.get("deletedAt")]


def _position(tx: Tx, caller: Caller, space_id: str, cursor: str | None) -> int:
    space = access_space(tx, caller, space_id)
    if cursor is None:
        return int(space.head_seq)
    parsed = _NUMBER.fullmatch(cursor)
    if parsed is not None and parsed[1] == space_id:
        return min(int(parsed[2]), int(space.head_seq))
    message = access_message(tx, caller, cursor) if ids.looks_like_id(cursor) else None
    if message is None or message.space_id != space_id:
        problem = "cursor is neither a cursor of this space nor a message in it. Leave it out, or read the messages."
        raise Invalid("bad_cursor", problem, {"path": "cursor"})
    return int(message.seq)


WAIT_FOR_MESSAGES = Tool(
    "wait_for_messages",
    "Wait for messages",
    "Wait until another member posts a message, at most waitSeconds. Pass the cursor of the result to the next call: "
    "then no message is lost or shown twice, however long you take between calls. Repeat the call if messages is empty "
    "and you still want to wait.",
    ("read",),
    WaitForMessages,
    NewMessagesJson,
    _wait_for_messages,
    reads_only=True,
)
