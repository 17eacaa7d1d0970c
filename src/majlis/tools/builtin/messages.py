"""`send_message` and `read_messages`, and pages of messages as tools return them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import orjson
import sqlalchemy as sa
from pydantic import Field

from majlis.clock import iso
from majlis.errors import Conflict, Forbidden, Invalid, NotFound
from majlis.inbox.deliver import post_message
from majlis.runs.calls.context import CallContext, Pause, ToolResult
from majlis.runs.calls.result import MAX_RESULT_CHARACTERS
from majlis.spaces.access import access_space, lock_spaces
from majlis.spaces.damaged_rows import Damaged, read_rows
from majlis.spaces.history import SELECT_MESSAGES
from majlis.spaces.post import Draft
from majlis.spaces.shapes import MessageJson
from majlis.store.tables import agents, messages, runs
from majlis.store.tables.runs import has_status
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import Input, built_in
from majlis.waits.deadlock import are_among_agents

# The rest of a result holds a space's name and a few numbers.
MAX_PAGE = MAX_RESULT_CHARACTERS - 2048
_LOCK_AGENT = sa.select(agents.c.id).where(agents.c.id == sa.bindparam("agent")).with_for_update(key_share=True)
_BEFORE = (
    SELECT_MESSAGES.where(messages.c.space_id == sa.bindparam("space"), messages.c.seq <= sa.bindparam("seq"))
    .order_by(messages.c.seq.desc())
    .limit(sa.bindparam("limit"))
)
# For a page with damaged rows (R9).
_NUMBERS = _BEFORE.with_only_columns(messages.c.seq)
_BY_NUMBER = SELECT_MESSAGES.where(
    messages.c.space_id == sa.bindparam("space_id"), messages.c.seq == sa.bindparam("seq")
)


class SendMessage(Input):
    text: Annotated[str, Field(min_length=1)]
    """Message text."""


class SendMessageAndWait(SendMessage):
    message_id: Annotated[str, Field(max_length=64)] | None = None
    """The id of the message that this one replies to. A run that waits for a reply to it resumes."""
    wait: bool = False
    """Set it to true to pause this run until a reply arrives in this space or the wait times out."""


class ReadMessages(Input):
    space_id: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """The id of one of your spaces. Omit it to read the active space."""
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    """How many messages to return."""
    offset: Annotated[int, Field(ge=0, le=2**53)] = 0
    """How many of the newest messages to skip."""


# The tool of an agent with `waits` off: its input is exactly {text} (M2).
@built_in("Post a message to the active space.")
def send_message(tx: Tx, call: CallContext, input: SendMessage) -> ToolResult:
    message = _post(tx, call, input.text, None, False)
    return {"success": True, "messageId": message["id"], "status": "delivered"}


@built_in(
    "Post a message to the active space. With wait: true the run pauses until a reply arrives or the wait times out. "
    "With messageId it replies to that message, and a run that waits for a reply to it resumes.",
    name="send_message",
)
def send_message_and_wait(tx: Tx, call: CallContext, input: SendMessageAndWait) -> ToolResult:
    """Post, deliver, resume the waiting run and pause this one in one transaction (M3): a reply cannot arrive between
    the question and the wait."""
    if input.wait:
        # Serialize the agent's waits: each sees the one before it (M11). Lock order: agent, then spaces, as in a claim.
        tx.execute(_LOCK_AGENT, {"agent": call.run.agent_id})
        # The space that triggered the run gets the pause event, too.
        lock_spaces(tx, (call.run.active_space_id, call.run.trigger_space_id))
        _check_wait_limits(tx, call)
    # The timeline shows ids as [msg:msg_…]; models may copy the prefix.
    reply_to = input.message_id.removeprefix("msg:") if input.message_id else None
    message = _post(tx, call, input.text, reply_to, input.wait)
    if not input.wait:
        return {"success": True, "messageId": message["id"], "status": "delivered"}
    call.run.waits += 1
    call.pause = Pause(
        "waiting_reply",
        message["spaceId"],
        message["id"],
        call.run.config.limits.wait_seconds,
        are_among_agents(tx, message["spaceId"]),
    )
    return {"success": True, "messageId": message["id"], "status": "waiting"}


def _post(tx: Tx, call: CallContext, text: str, reply_to: str | None, expects_reply: bool) -> MessageJson:
    space_id = call.run.active_space_id
    if space_id is None:
        raise Invalid(
            "no_active_space",
            "Nothing was sent: no space is active. Call enter_space with one of the ids under YOUR SPACES first.",
        )
    draft = Draft(
        text,
        reply_to=reply_to,
        origin=_origin(call, space_id),
        run_id=call.run.id,
        chain_depth=call.run.chain_depth + 1,
        root_cause=call.run.trigger.get("messageId"),
        stream_id=call.stream_id,
        expects_reply=expects_reply,
    )
    try:
        message = post_message(tx, call.run.caller, space_id, draft)
    except NotFound:
        raise NotFound(
            "not_a_member",
            "Nothing was sent: you are no longer a member of the active space. Enter another one, or end this run.",
        ) from None
    except Forbidden:
        raise Forbidden("viewer", "Nothing was sent: you have read-only access to this space.") from None
    except Invalid as error:
        if error.code == "unknown_reply_to":
            raise Invalid(
                "unknown_message",
                f"Nothing was sent: messageId {reply_to} is not a message of the active space. Copy the id from the "
                "history, or omit messageId.",
            ) from None
        raise
    call.run.wrote.setdefault(space_id, []).append(message["seq"])
    return message


def _origin(call: CallContext, space_id: str) -> dict[str, object] | None:
    """Where the request came from, if it came from another space (M14); in a cycle, the first event from a space. The
    agent's own prompts show all of it; the API returns only the ids."""
    asked = (event for event in call.run.trigger.get("events") or [call.run.trigger] if "spaceId" in event)
    source = next(asked, None)
    if source is None or space_id in call.run.asked_in:
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
    "Read messages of one of your spaces, oldest first. offset counts from the newest message: limit 50 with offset 50 "
    "returns the 50 messages before the last 50."
)
def read_messages(tx: Tx, call: CallContext, input: ReadMessages) -> ToolResult:
    space_id = input.space_id or call.run.active_space_id
    if space_id is None:
        raise Invalid("no_active_space", "No space is active. Give spaceId, or call enter_space first.")
    try:
        space = access_space(tx, call.run.caller, space_id)
    except NotFound:
        raise NotFound(
            "not_a_member", f"You are not a member of {space_id}. Your spaces and their ids are under YOUR SPACES."
        ) from None
    if input.offset == 0:
        remember_shown(call, space.id, space.head_seq)
    page = newest(tx, space.id, space.head_seq, input.offset, input.limit)
    return {
        "success": True,
        "spaceId": space.id,
        "spaceName": space.name,
        "messages": page.lines,
        "total": space.head_seq,
        **page.note,
    }


class Page(NamedTuple):
    lines: list[dict[str, Any]]
    """Oldest first."""
    note: dict[str, str]
    """For the result; empty if no message is omitted."""


def newest(tx: Tx, space_id: str, head: int, offset: int, limit: int) -> Page:
    """Up to `limit` messages before the newest `offset`. If they are too long for one result, the oldest are omitted:
    the newest count as shown (C2)."""
    given = {"space": space_id, "seq": head - offset, "limit": limit}
    rows = read_rows(tx, space_id, lambda: tx.all(_BEFORE, given), _NUMBERS, given, _BY_NUMBER)
    lines: list[dict[str, Any]] = []
    room = MAX_PAGE
    for n, row in enumerate(rows):
        if isinstance(row, Damaged):
            continue
        line = _line(row)
        size = size_of(line)
        if size > room and lines:
            return Page(lines[::-1], _omitted(len(rows) - n, head - row.seq))
        if size > room:
            line = _shortened(line, room)
        lines.append(line)
        room -= size
    return Page(lines[::-1], {})


def remember_shown(call: CallContext, space_id: str, seq: int) -> None:
    """Call it only for the newest page: the messages after an older page were not shown (C2)."""
    call.run.shown[space_id] = max(seq, call.run.shown.get(space_id, 0))


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


def _line(row: sa.Row[Any]) -> dict[str, Any]:
    optional = {"kind": None if row.kind == "text" else row.kind, "tool": row.tool, "replyTo": row.reply_to}
    return {
        "messageId": row.id,
        "timestamp": iso(row.created_at),
        "sender": {"id": row.sender_id, "name": row.sender_name, "type": row.sender_type},
        "text": row.text,
        **{name: value for name, value in optional.items() if value is not None},
    }
