"""`read_messages`, `search_messages` and `explain_message`, and pages of messages as tools return them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import orjson
import sqlalchemy as sa
from pydantic import Field

from majlis.clock import iso
from majlis.errors import Invalid
from majlis.runs.calls.behalf import access_as_run, readable_by_run
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.runs.calls.result import MAX_RESULT_CHARACTERS
from majlis.runs.claim.gathered import take_shown
from majlis.runs.run import Run
from majlis.runs.view.why import Reader, explain
from majlis.spaces.acts_for import spaces_of
from majlis.spaces.damaged_rows import Damaged, read_rows
from majlis.spaces.history import SELECT_MESSAGES, access_message
from majlis.spaces.search import find_messages
from majlis.spaces.search_query import moment, parse
from majlis.spaces.snippet import snippet
from majlis.store.hot import hot
from majlis.store.tables import messages, spaces
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import Input, built_in
from majlis.tools.builtin.origins import read_origins
from majlis.tools.builtin.send_message import Name

# The rest of a result holds a space's name and a few numbers.
MAX_PAGE = MAX_RESULT_CHARACTERS - 2048
# A longer message is cut in search results.
_MAX_FOUND = 600
_NAMES = sa.select(spaces.c.id, spaces.c.name).where(spaces.c.id.in_(sa.bindparam("ids", expanding=True)))
_BEFORE = hot(
    SELECT_MESSAGES.where(messages.c.space_id == sa.bindparam("space"), messages.c.seq <= sa.bindparam("seq"))
    .order_by(messages.c.seq.desc())
    .limit(sa.bindparam("limit"))
)
# For a page with damaged rows (R9).
_NUMBERS = _BEFORE.with_only_columns(messages.c.seq)
_BY_NUMBER = SELECT_MESSAGES.where(
    messages.c.space_id == sa.bindparam("space_id"), messages.c.seq == sa.bindparam("seq")
)


class ReadMessages(Input):
    space_id: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """The id of one of your spaces. Omit it to read the active space."""
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    """How many messages to return."""
    offset: Annotated[int, Field(ge=0, le=2**53)] = 0
    """How many of the newest messages to skip."""


class ExplainMessage(Input):
    message_id: Annotated[str, Field(min_length=1, max_length=64)]
    """The id of a message of one of your spaces."""


class SearchMessages(Input):
    query: Annotated[str, Field(min_length=1, max_length=500)]
    """Words that must all occur; use "quotes" for a phrase."""
    space_id: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """The id of one of your spaces. Omit it to search in all of them."""
    from_: Name | None = Field(default=None, alias="from")
    """The name of the sender."""
    before: Annotated[str, Field(max_length=40)] | None = None
    """A date such as 2026-11-18, or the timestamp of a message; finds older messages."""
    limit: Annotated[int, Field(ge=1, le=50)] = 20
    """How many messages to return."""


@built_in(
    "Find out why a message was sent: what caused it, hop by hop back to the beginning. Hidden hops are of spaces or "
    "people that you may not see."
)
def explain_message(tx: Tx, call: CallContext, input: ExplainMessage) -> ToolResult:
    message_id = input.message_id.removeprefix("msg:")
    message = access_message(tx, call.run.caller, message_id)
    access_as_run(tx, call.run, message.space_id, "Nothing was explained")
    person = call.run.limited_to
    mine = messages.c.space_id.in_(spaces_of(call.run.agent_id))
    reader = Reader(
        sa.and_(mine, readable_by_run(call.run)), frozenset({call.run.agent_id if person is None else person})
    )
    return {"success": True, "messageId": message_id, **explain(tx, message, reader)}


@built_in(
    "Read messages of one of your spaces, oldest first. offset counts from the newest message: limit 50 with offset 50 "
    "returns the 50 messages before the last 50."
)
def read_messages(tx: Tx, call: CallContext, input: ReadMessages) -> ToolResult:
    space_id = input.space_id or call.run.active_space_id
    if space_id is None:
        raise Invalid("no_active_space", "No space is active. Give spaceId, or call enter_space first.")
    space = access_as_run(tx, call.run, space_id, "Nothing was read")
    if input.offset == 0:
        remember_shown(tx, call, space.id, space.head_seq)
    page = newest(tx, call.run, space.id, space.head_seq, input.offset, input.limit)
    return {
        "success": True,
        "spaceId": space.id,
        "spaceName": space.name,
        "messages": page.lines,
        "total": space.head_seq,
        **page.note,
    }


@built_in(
    "Search the messages of your spaces. Returns the newest matches, oldest first. To continue, pass the timestamp of "
    "the oldest match as before. Long messages are cut to the part that matches; read_messages has the whole text."
)
def search_messages(tx: Tx, call: CallContext, input: SearchMessages) -> ToolResult:
    """Moves no cursor: the messages around a match were not shown (C2)."""
    wanted = parse(input.query)
    if input.from_ is not None:
        wanted = replace(wanted, sender=input.from_)
    if input.before is not None:
        wanted = replace(wanted, before=moment(input.before, "before"))
    only = readable_by_run(call.run)
    if input.space_id is not None:
        only = messages.c.space_id == access_as_run(tx, call.run, input.space_id, "Nothing was searched").id
    rows, more = find_messages(tx, call.run.caller, wanted, input.limit, only)
    names = tx.all(_NAMES, {"ids": sorted({row.space_id for row in rows})}) if rows else ()
    place = {row.id: row.name for row in names}
    found = []
    for row in reversed(rows):
        line = {"spaceId": row.space_id, "spaceName": place[row.space_id], **_line(row, call.run)}
        if len(row.text) > _MAX_FOUND:
            line["text"] = "".join(part["text"] for part in snippet(row.text, wanted.terms))
            line["cut"] = f"the part that matches, of {len(row.text)} characters"
        found.append(line)
    return {"success": True, "messages": found, "hasMore": more}


class Page(NamedTuple):
    lines: list[dict[str, Any]]
    """Oldest first."""
    note: dict[str, str]
    """A note for the result; empty if no message is omitted."""


def newest(tx: Tx, run: Run, space_id: str, head: int, offset: int, limit: int) -> Page:
    """Up to `limit` messages before the newest `offset`. If they are too long for one result, the oldest are omitted:
    the newest count as shown (C2)."""
    given = {"space": space_id, "seq": head - offset, "limit": limit}
    rows = read_rows(tx, space_id, lambda: tx.all(_BEFORE, given), _NUMBERS, given, _BY_NUMBER)
    origins = read_origins(tx, run, [row for row in rows if not isinstance(row, Damaged)])
    lines: list[dict[str, Any]] = []
    room = MAX_PAGE
    for n, row in enumerate(rows):
        if isinstance(row, Damaged):
            continue
        line = {**_line(row, run), **({"origin": origins[row.id]} if row.id in origins else {})}
        size = size_of(line)
        if size > room and lines:
            return Page(lines[::-1], _omitted(len(rows) - n, head - row.seq))
        if size > room:
            line = _shortened(line, room)
        lines.append(line)
        room -= size
    return Page(lines[::-1], {})


def remember_shown(tx: Tx, call: CallContext, space_id: str, seq: int) -> None:
    """Call it only for the newest page: the messages after an older page were not shown (C2)."""
    call.run.shown[space_id] = max(seq, call.run.shown.get(space_id, 0))
    take_shown(tx, call.run, space_id, seq)


def _shortened(line: dict[str, Any], room: int) -> dict[str, Any]:
    """Shortens a single message that is longer than a result may be."""
    text = line["text"]
    line = {**line, "tool": {"name": line["tool"].get("name")}} if "tool" in line else line
    keep = len(text)
    while True:
        cut = f"the first {keep} of {len(text)} characters" if keep < len(text) else "its tool's input and output"
        shown = {**line, "text": text[:keep], "cut": cut}
        if size_of(shown) <= room or keep == 0:
            return shown
        keep = keep * 9 // 10


def _omitted(count: int, offset: int) -> dict[str, str]:
    what = "1 earlier message" if count == 1 else f"{count} earlier messages"
    return {
        "note": f"{what} omitted: the result would be too long. Call read_messages with offset {offset} to continue."
    }


def size_of(line: Mapping[str, Any]) -> int:
    """Characters in a result, with the comma after it."""
    return len(orjson.dumps(line).decode()) + 1


def _line(row: sa.Row[Any], run: Run) -> dict[str, Any]:
    optional = {
        "kind": None if row.kind == "text" else row.kind,
        "tool": row.tool,
        "replyTo": row.reply_to,
        "files": row.files,
    }
    return {
        "messageId": row.id,
        "timestamp": iso(row.created_at),
        "sender": {
            "id": row.sender_id,
            "name": row.sender_name,
            "type": row.sender_type,
            # Corresponds to `(agent, you)` in the lines of a history (F8).
            **({"you": True} if row.sender_id == run.agent_id else {}),
        },
        "text": row.text,
        **_changes(row),
        **{name: value for name, value in optional.items() if value is not None},
    }


def _changes(row: sa.Row[Any]) -> dict[str, Any]:
    """The fields for what happened to a message after it was posted (L1–L3)."""
    if row.deleted_by is not None:
        return {"deletedBy": row.deleted_by["name"]}
    edited = {"editedAt": iso(row.edited_at)} if row.edited_at is not None else {}
    reactions = {each["emoji"]: len(each["entityIds"]) for each in row.reactions or ()}
    return edited | ({"reactions": reactions} if reactions else {})
