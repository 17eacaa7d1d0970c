"""`send_message`, `read_messages` and `search_messages`, and pages of messages as tools return them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, NamedTuple

import orjson
import sqlalchemy as sa
from pydantic import Field

from majlis.clock import iso
from majlis.errors import Conflict, Forbidden, Invalid, NotFound
from majlis.inbox.deliver import Reach, post_and_reach
from majlis.runs.calls.behalf import access_as_run, readable_by_run
from majlis.runs.calls.context import CallContext, Pause, ToolResult
from majlis.runs.calls.hold import give_back
from majlis.runs.calls.result import MAX_RESULT_CHARACTERS
from majlis.runs.claim.gathered import take_shown
from majlis.runs.run import Run, origin_of
from majlis.runs.view.why import Reader, explain
from majlis.spaces.access import lock_spaces
from majlis.spaces.acts_for import spaces_of
from majlis.spaces.attachments import MAX_FILES
from majlis.spaces.damaged_rows import Damaged, read_rows
from majlis.spaces.history import SELECT_MESSAGES, access_message
from majlis.spaces.mentions import find_named
from majlis.spaces.post import MAX_MENTIONS, Draft
from majlis.spaces.search import find_messages
from majlis.spaces.search_query import moment, parse
from majlis.spaces.shapes import MessageJson
from majlis.spaces.snippet import snippet
from majlis.store.hot import hot
from majlis.store.tables import agents, messages, runs, spaces
from majlis.store.tables.runs import has_status
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import Input, built_in
from majlis.tools.builtin.origins import read_origins
from majlis.waits.condition import MAX_NAMES, Condition, parse_within, read_condition, require_answerable
from majlis.waits.deadlock import are_among_agents

# The rest of a result holds a space's name and a few numbers.
MAX_PAGE = MAX_RESULT_CHARACTERS - 2048
# A longer message is cut in search results.
_MAX_FOUND = 600
_NAMES = sa.select(spaces.c.id, spaces.c.name).where(spaces.c.id.in_(sa.bindparam("ids", expanding=True)))
_LOCK_AGENT = sa.select(agents.c.id).where(agents.c.id == sa.bindparam("agent")).with_for_update(key_share=True)
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


Name = Annotated[str, Field(min_length=1, max_length=64)]
FileId = Annotated[str, Field(min_length=1, max_length=64)]


class SendMessage(Input):
    text: Annotated[str, Field(min_length=1)]
    """Message text."""


class WaitFor(Input):
    from_: Annotated[list[Name], Field(min_length=1, max_length=MAX_NAMES)] | None = Field(default=None, alias="from")
    """Names or ids of the members who can answer. Omit it if any member can."""
    need: Annotated[int, Field(ge=1, le=MAX_NAMES)] | Literal["any", "all"] = "any"
    """How many different members have to answer: "any" (one), "all" of from, or a number."""
    within: Annotated[str, Field(max_length=64)] | None = None
    """How long to wait, as in "45 seconds", "30 minutes", "2 hours" or "1 day"; at most a week."""


class SendMessageAndWait(SendMessage):
    message_id: Annotated[str, Field(max_length=64)] | None = None
    """The id of the message that this one replies to. A run that waits for a reply to it resumes."""
    wait: bool | WaitFor = False
    """Set it to true to pause this run until a reply arrives in this space or the wait times out. Use an object to name
    who has to answer, how many, and within what time."""
    mentions: Annotated[list[Name], Field(max_length=MAX_MENTIONS)] = Field(default_factory=list)
    """Names or ids of members that this message is for. A name that the text starts with, as in "@Name", need not be
    listed."""
    files: Annotated[list[FileId], Field(max_length=MAX_FILES)] = Field(default_factory=list)
    """Ids of files to send with it, as in [file: report.pdf, …, file:<id>]."""


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


# The tool of an agent with `waits` off: its input is exactly {text} (M2).
@built_in("Post a message to the active space.")
def send_message(tx: Tx, call: CallContext, input: SendMessage) -> ToolResult:
    message, reach = _post(tx, call, input.text)
    return {"success": True, "messageId": message["id"], "status": "delivered", **reach.result()}


@built_in(
    "Post a message to the active space. With wait: true the run pauses until a reply arrives or the wait times out. "
    'To wait for certain members or several answers: {"text": "Ship it?", "wait": {"from": ["Sarah", "Ann"], "need": '
    '"all", "within": "2 hours"}}. With messageId it replies to that message, and a run that waits for a reply to it '
    "resumes.",
    name="send_message",
)
def send_message_and_wait(tx: Tx, call: CallContext, input: SendMessageAndWait) -> ToolResult:
    """Post, deliver, resume the waiting run and pause this one in one transaction (M3): a reply cannot arrive between
    the question and the wait."""
    if input.wait is False:
        mentions = _mentioned(tx, call, input)
        message, reach = _post(tx, call, input.text, _replied_to(input), mentions=mentions, files=input.files)
        return {"success": True, "messageId": message["id"], "status": "delivered", **reach.result()}
    # Serialize the agent's waits: each sees the one before it (M11). Lock order: agent, then spaces, as in a claim.
    tx.execute(_LOCK_AGENT, {"agent": call.run.agent_id})
    # The space that triggered the run gets the pause event, too.
    lock_spaces(tx, (call.run.active_space_id, call.run.trigger_space_id))
    _check_wait_limits(tx, call)
    condition = _condition(tx, call, input.wait)
    mentions = [*_mentioned(tx, call, input), *(row.id for row in condition.named or ())]
    message, reach = _post(
        tx, call, input.text, _replied_to(input), expects_reply=True, mentions=mentions, files=input.files
    )
    require_answerable(tx, message, condition)
    call.run.waits += 1
    among_agents = condition.is_for_agents or are_among_agents(tx, message["spaceId"])
    call.pause = Pause("waiting_reply", message["spaceId"], message["id"], condition.seconds, among_agents, condition)
    return {"success": True, "messageId": message["id"], "status": "waiting", **reach.result()}


def post_files(tx: Tx, call: CallContext, text: str, files: Sequence[str]) -> ToolResult:
    message, reach = _post(tx, call, text, files=files)
    return {"success": True, "messageId": message["id"], "status": "delivered", **reach.result()}


def file_id(given: str) -> str:
    """Prompts show ids as file:fil_…; models may copy the prefix."""
    return given.removeprefix("file:")


def _replied_to(input: SendMessageAndWait) -> str | None:
    """The timeline shows ids as [msg:msg_…]; models may copy the prefix."""
    return input.message_id.removeprefix("msg:") if input.message_id else None


def _condition(tx: Tx, call: CallContext, wait: WaitFor | Literal[True]) -> Condition:
    seconds = call.run.config.limits.wait_seconds
    if wait is True or call.run.active_space_id is None:
        return Condition(seconds)
    seconds = parse_within(wait.within) if wait.within is not None else seconds
    return read_condition(tx, call.run.active_space_id, call.run.agent_id, wait.from_, wait.need, seconds)


def _mentioned(tx: Tx, call: CallContext, input: SendMessageAndWait) -> list[str]:
    """A name that is not a member's is an error, and nothing is sent."""
    if not input.mentions or call.run.active_space_id is None:
        return []
    found = find_named(tx, call.run.active_space_id, input.mentions)
    missing = next((each for each in input.mentions if each not in found), None)
    if missing is not None:
        raise Invalid(
            "unknown_member",
            f"Nothing was sent: mentions contains {missing}, who is not a member of the active space. Use the names or "
            "ids under YOUR SPACES.",
        )
    return [found[each].id for each in input.mentions]


def _post(
    tx: Tx,
    call: CallContext,
    text: str,
    reply_to: str | None = None,
    expects_reply: bool = False,
    mentions: Sequence[str] = (),
    files: Sequence[str] = (),
) -> tuple[MessageJson, Reach]:
    space_id = call.run.active_space_id
    if space_id is None:
        raise Invalid(
            "no_active_space",
            "Nothing was sent: no space is active. Call enter_space with one of the ids under YOUR SPACES first.",
        )
    draft = Draft(
        text,
        client_id=call.client_id,
        reply_to=reply_to,
        mentions=list(mentions),
        origin=_origin(call, space_id),
        run_id=call.run.id,
        chain_depth=call.run.chain_depth + 1,
        caused_by=call.run.trigger.get("messageId"),
        cause=call.run.cause,
        on_behalf_of=call.run.person_in(space_id),
        stream_id=call.stream_id,
        expects_reply=expects_reply,
        files=[file_id(each) for each in files],
        bounds=call.run.bounds,
        # People have seen the text when they approved it.
        guard=None if call.approved else call.run.guard(space_id),
        permitted=call.permitted,
    )
    try:
        message, reach = post_and_reach(tx, call.run.caller, space_id, draft)
    except NotFound:
        raise NotFound(
            "not_a_member",
            "Nothing was sent: you are no longer a member of the active space. Enter another one, or end this run.",
        ) from None
    except Forbidden as error:
        if error.code != "viewer":
            raise
        raise Forbidden("viewer", "Nothing was sent: you have read-only access to this space.") from None
    except Invalid as error:
        if error.code == "unknown_reply_to":
            raise Invalid(
                "unknown_message",
                f"Nothing was sent: messageId {reply_to} is not a message of the active space. Copy the id from the "
                "history, or omit messageId.",
            ) from None
        if error.code == "unknown_file":
            raise Invalid(
                "unknown_file",
                f"Nothing was sent: {error.message.rstrip('.')}, or the person you act for may not read it.",
            ) from None
        raise
    call.run.wrote.setdefault(space_id, []).append(message["seq"])
    if call.run.holds:
        give_back(tx, call.run)
    return message, reach


def _origin(call: CallContext, space_id: str) -> dict[str, object] | None:
    """Where the request came from, if it did not come from this space (M14, F6). The agent's own prompts show all of
    it; the API returns only the ids of a message."""
    source = origin_of(call.run.trigger)
    if "spaceId" not in source:
        return {"kind": source["type"], "name": source.get("planName") or source.get("serviceName")}
    if space_id in call.run.asked_in:
        return None
    return {
        "sourceSpace": source["spaceId"],
        "sourceEvent": source.get("messageId"),
        "sourceSpaceName": source.get("spaceName"),
        "sourceSender": source.get("senderName"),
        "sourceText": source.get("text", "")[:300],
    }


def _check_wait_limits(tx: Tx, call: CallContext) -> None:
    limits = call.run.config.limits
    if call.run.waits >= limits.waits_per_run:
        raise Conflict(
            "too_many_waits",
            f"Nothing was sent: this run has waited {call.run.waits} times, which is its limit. Send without wait, "
            "then end the run; a reply starts a new one.",
        )
    waiting = sa.select(sa.func.count()).where(runs.c.agent_id == call.run.agent_id, has_status("waiting_reply"))
    if tx.execute(waiting).scalar_one() >= limits.waiting_runs:
        raise Conflict(
            "too_many_waiting_runs",
            f"Nothing was sent: {limits.waiting_runs} of your runs are already waiting, which is the limit. Send "
            "without wait, or call get_my_runs and stop_run first.",
        )


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
    """For the result; empty if no message is omitted."""


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
    """A single message that is longer than a result may be."""
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
            # As `(agent, you)` in the lines of a history (F8).
            **({"you": True} if row.sender_id == run.agent_id else {}),
        },
        "text": row.text,
        **_changes(row),
        **{name: value for name, value in optional.items() if value is not None},
    }


def _changes(row: sa.Row[Any]) -> dict[str, Any]:
    """What happened to a message after it was posted (L1–L3)."""
    if row.deleted_by is not None:
        return {"deletedBy": row.deleted_by["name"]}
    edited = {"editedAt": iso(row.edited_at)} if row.edited_at is not None else {}
    reactions = {each["emoji"]: len(each["entityIds"]) for each in row.reactions or ()}
    return edited | ({"reactions": reactions} if reactions else {})
