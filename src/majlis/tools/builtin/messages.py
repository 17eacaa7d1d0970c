"""`send_message`: the agent speaks in its active space, and may wait for an answer there.

Two tools under one name: with `waits` off the input is exactly `{text}` (M2). Stored, others triggered, the answered
resumed, the sender paused: one transaction (M3), so no answer can fall between the question and the wait.
"""

from __future__ import annotations

from typing import Annotated

import sqlalchemy as sa
from pydantic import Field

from majlis.errors import Conflict, Forbidden, Invalid, NotFound
from majlis.runs.calls.context import Acting, Pause, ToolResult
from majlis.spaces.access import lock_spaces
from majlis.spaces.post import Draft, post_message
from majlis.spaces.shapes import MessageJson
from majlis.store.tables import agents, runs
from majlis.store.tables.runs import has_status
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import BuiltIn, Input
from majlis.waits.deadlock import are_among_agents

Text = Annotated[str, Field(min_length=1)]
_LOCK_AGENT = sa.select(agents.c.id).where(agents.c.id == sa.bindparam("agent")).with_for_update(key_share=True)


class SendMessage(Input):
    text: Text
    """Message text."""


class SendMessageAndWait(SendMessage):
    message_id: Annotated[str, Field(max_length=64)] | None = None
    """The id of a message that this one answers. Whoever waits for an answer to it goes on."""
    wait: bool = False
    """true: pause this run until somebody answers here, or the time is over."""


def send_message(tx: Tx, acting: Acting, input: SendMessage) -> ToolResult:
    message = _post(tx, acting, input.text, None, False)
    return {"success": True, "messageId": message["id"], "status": "delivered"}


def send_message_and_wait(tx: Tx, acting: Acting, input: SendMessageAndWait) -> ToolResult:
    if input.wait:
        # One after the other: each sees whether the one before it waits (M11). Agent before spaces, as in a claim.
        tx.execute(_LOCK_AGENT, {"agent": acting.id})
        # The pause is told to the space that triggered the run as well.
        lock_spaces(tx, (acting.active_space_id, acting.trigger_space_id))
        _refuse_too_many_waits(tx, acting)
    # In the timeline ids stand as [msg:msg_…]; a model may copy the whole of it.
    answers = input.message_id.removeprefix("msg:") if input.message_id else None
    message = _post(tx, acting, input.text, answers, input.wait)
    if not input.wait:
        return {"success": True, "messageId": message["id"], "status": "delivered"}
    acting.waits += 1
    acting.pause = Pause(
        "waiting_reply",
        message["spaceId"],
        message["id"],
        acting.config.limits.wait_seconds,
        are_among_agents(tx, message["spaceId"]),
    )
    return {"success": True, "messageId": message["id"], "status": "waiting"}


def _post(tx: Tx, acting: Acting, text: str, reply_to: str | None, expects_reply: bool) -> MessageJson:
    space_id = acting.active_space_id
    if space_id is None:
        raise Invalid(
            "no_active_space",
            "Nothing was sent: no space is active. Call enter_space with one of the ids under YOUR SPACES first.",
        )
    draft = Draft(
        text,
        reply_to=reply_to,
        origin=_origin(acting, space_id),
        run_id=acting.run_id,
        chain_depth=acting.chain_depth + 1,
        root_cause=acting.trigger.get("messageId"),
        stream_id=acting.stream_id,
        expects_reply=expects_reply,
    )
    try:
        message = post_message(tx, acting, space_id, draft)
    except NotFound:
        raise NotFound(
            "not_a_member",
            "Nothing was sent: you are not a member of the active space any more. Enter another one, or end this run.",
        ) from None
    except Forbidden:
        raise Forbidden("viewer", "Nothing was sent: in this space you may only read.") from None
    except Invalid as error:
        if error.code == "unknown_reply_to":
            raise Invalid(
                "unknown_message",
                f"Nothing was sent: messageId {reply_to} is no message of the active space. Copy the id from the "
                "history, or leave messageId out.",
            ) from None
        raise
    acting.wrote.setdefault(space_id, []).append(message["seq"])
    return message


def _origin(acting: Acting, space_id: str) -> dict[str, object] | None:
    """Why an agent speaks in a space where nobody asked it (M14). Kept with what the agent needs to remember it by;
    the API gives out the ids only. Of a cycle with several events it is the first that came from a space."""
    asked = (event for event in acting.trigger.get("events") or [acting.trigger] if "spaceId" in event)
    source = next(asked, None)
    if source is None or space_id in acting.asked_in:
        return None
    return {
        "sourceSpace": source["spaceId"],
        "sourceEvent": source.get("messageId"),
        "sourceSpaceName": source.get("spaceName"),
        "sourceSender": source.get("senderName"),
        "sourceText": source.get("text", "")[:300],
    }


def _refuse_too_many_waits(tx: Tx, acting: Acting) -> None:
    limits = acting.config.limits
    if acting.waits >= limits.waits_per_run:
        raise Conflict(
            "too_many_waits",
            f"Nothing was sent: this run has waited {acting.waits} times, which is its limit. Send without wait, and "
            "end the run; an answer starts a new one.",
        )
    waiting = sa.select(sa.func.count()).where(runs.c.agent_id == acting.id, has_status("waiting_reply"))
    if tx.execute(waiting).scalar_one() >= limits.waiting_runs:
        raise Conflict(
            "too_many_waiting_runs",
            f"Nothing was sent: {limits.waiting_runs} of your runs are waiting already, which is the limit. Send "
            "without wait, or call get_my_runs and stop_run first.",
        )


TOOL = BuiltIn("send_message", "Post a message to the active space.", SendMessage, send_message)
WAITING_TOOL = BuiltIn(
    "send_message",
    "Post a message to the active space. With wait: true the run pauses until somebody answers or the time is over. "
    "messageId answers one message and lets whoever waits on it go on.",
    SendMessageAndWait,
    send_message_and_wait,
)
