"""`send_message`: posts a message to the active space, and pauses the run if it waits for an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import sqlalchemy as sa
from pydantic import Field

from majlis.errors import Conflict, Forbidden, Invalid, NotFound
from majlis.inbox.deliver import Reach, post_and_reach
from majlis.runs.calls.context import CallContext, Pause, ToolResult
from majlis.runs.calls.held_message import give_back
from majlis.runs.run import origin_of
from majlis.spaces.access import lock_spaces
from majlis.spaces.attachments import MAX_FILES
from majlis.spaces.mentions import find_named
from majlis.spaces.post import MAX_MENTIONS, Draft
from majlis.spaces.shapes import MessageJson
from majlis.store.tables import agents, runs
from majlis.store.tables.runs import has_status
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import Input, built_in
from majlis.waits.condition import MAX_NAMES, Condition, parse_within, read_condition, require_answerable
from majlis.waits.deadlock import are_among_agents

_LOCK_AGENT = sa.select(agents.c.id).where(agents.c.id == sa.bindparam("agent")).with_for_update(key_share=True)

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
