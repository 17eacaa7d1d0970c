"""Posts a card in the active space: a question to its people (J5), or a request for permission to call a tool.

The run waits, as a row (M4). A cycle of a consciousness goes on, and the answer comes as an event (K1).
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, count
from typing import Any, Literal

import orjson
import sqlalchemy as sa

from majlis.card_kinds import CardKind
from majlis.cards.approvers import Approval, nobody_here
from majlis.clock import iso
from majlis.errors import Conflict, Forbidden, Invalid, NotFound
from majlis.runs.calls.context import CallContext, Pause, ToolResult
from majlis.runs.calls.result import clean
from majlis.runs.run import Run
from majlis.spaces.access import lock_spaces
from majlis.spaces.post import Draft, store_message
from majlis.spaces.shapes import MessageJson, ToolJson
from majlis.store import ids
from majlis.store.tables import cards
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

# An agent in a loop must not flood a space with questions.
MAX_OPEN = 50
_MAX_CALL_ID = 120
_MAX_TEXT = 4000

_COUNT = (
    sa.select(sa.func.count())
    .select_from(cards)
    .where(cards.c.agent_id == sa.bindparam("agent"), cards.c.state == word("open"))
)
_KNOWN = sa.select(cards.c.id).where(cards.c.run_id == sa.bindparam("run"), cards.c.call_id == sa.bindparam("call"))
_GRANTED = (
    sa.select(cards.c.id)
    .where(
        cards.c.agent_id == sa.bindparam("agent"),
        cards.c.name == sa.bindparam("name"),
        cards.c.purpose == word("permission"),
        cards.c.state == word("answered"),
        cards.c.used_at.is_(None),
        ~cards.c.paused,
        cards.c.input_digest == sa.bindparam("digest"),
        cards.c.answered_at > sa.bindparam("since", type_=sa.BigInteger),
    )
    .order_by(cards.c.id)
    .limit(1)
)
_USE = (
    cards.update()
    .where(
        cards.c.id == sa.bindparam("card"),
        cards.c.used_at.is_(None),
        # The server of an MCP tool is also told that there was no answer.
        sa.or_(
            cards.c.state == word("answered"), sa.and_(cards.c.elicitation.is_not(None), cards.c.state != word("open"))
        ),
    )
    .values(used_at=sa.bindparam("at", type_=sa.BigInteger))
)


@dataclass(frozen=True, slots=True)
class Question:
    """`mark` is the message's client id; `input` is what people see of the call."""

    name: str
    ui: CardKind
    purpose: Literal["answer", "permission"]
    input: Any
    schema: Any
    seconds: int
    mark: str | None
    digest: str | None = None
    approvals: list[Approval] | None = None
    """The rules about approvers; None for a question to all people in the space."""
    elicitation: dict[str, Any] | None = None
    """For a question of an MCP server (D6), which people may decline: what its call needs to go on."""
    held: bool = False
    """The worker holds the call until the answer, and the run does not pause."""


def ask(tx: Tx, call: CallContext, question: Question) -> ToolResult:
    """The result of the call for now. Sets `call.pause`, except in a cycle."""
    run = call.run
    space_id = run.active_space_id
    if space_id is None:
        raise Invalid(
            "no_active_space",
            f"{question.name} was not called: it asks the people in the active space, and no space is active. Call "
            "enter_space with one of the ids under YOUR SPACES first.",
        )
    # The triggering space gets an event about the pause. Locks in one order, as in `send_message`.
    lock_spaces(tx, (run.active_space_id, run.trigger_space_id))
    if tx.execute(_COUNT, {"agent": run.agent_id}).scalar_one() >= MAX_OPEN:
        raise Conflict(
            "too_many_questions",
            f"Nothing was asked: {MAX_OPEN} of your questions are still open. Wait for answers first.",
        )
    call_id = _unique(tx, call)
    deadline = tx.now + question.seconds * 1000
    message = _post(tx, call, space_id, question, call_id, deadline)
    tx.execute(cards.insert(), _row(tx, call, question, message, call_id, deadline))
    if run.cycle or question.held:
        return {"status": "pending", "toolCallId": call_id}
    call.pause = Pause(
        "waiting_tool", space_id, message["id"], question.seconds, call_id=call_id, tool_name=question.name
    )
    return {"status": "waiting", "toolCallId": call_id}


def digest_of(input: Any) -> str:
    """Permission is for exactly this input."""
    return blake2b(orjson.dumps(input, option=orjson.OPT_SORT_KEYS), digest_size=32).hexdigest()


def use_permission(tx: Tx, card_id: str) -> bool:
    """Uses up an approval, or the answer to a server's question; False if it was used already."""
    return tx.execute(_USE, {"card": card_id, "at": tx.now}).rowcount == 1


def use_granted(tx: Tx, run: Run, name: str, digest: str) -> bool:
    """For a cycle: a person has approved this call, with the same input, since an earlier cycle asked."""
    since = tx.now - run.config.limits.tool_wait_seconds * 1000
    found = tx.one(_GRANTED, {"agent": run.agent_id, "name": name, "digest": digest, "since": since})
    return found is not None and use_permission(tx, found.id)


def _unique(tx: Tx, call: CallContext) -> str:
    """A model may reuse a call id within a run; then the step is added. The server of one call may ask several
    questions; then they are counted."""
    wanted = clean(call.call_id)[:_MAX_CALL_ID] or f"call:{call.step}"
    tries = chain((wanted, f"{wanted}:{call.step}"), (f"{wanted}:{call.step}:{n}" for n in count(2)))
    return next(each for each in tries if tx.one(_KNOWN, {"run": call.run.id, "call": each}) is None)


def _post(tx: Tx, call: CallContext, space_id: str, question: Question, call_id: str, deadline: int) -> MessageJson:
    tool: ToolJson = {
        "callId": call_id,
        "name": question.name,
        "input": question.input,
        "output": None,
        "status": "running",
        "ui": question.ui,
        "purpose": question.purpose,
        "resultSchema": question.schema,
        "expiresAt": iso(deadline),
    }
    if question.elicitation is not None:
        tool["mayDecline"] = True
    draft = Draft(
        _text(question),
        client_id=question.mark,
        kind="tool",
        tool=tool,
        run_id=call.run.id,
        chain_depth=call.run.chain_depth + 1,
        caused_by=call.run.trigger.get("messageId"),
        cause=call.run.cause,
        on_behalf_of=call.run.person_in(space_id),
        stream_id=call.stream_id,
    )
    try:
        message = store_message(tx, call.run.caller, space_id, draft).message
    except NotFound:
        raise NotFound(
            "not_a_member",
            f"{question.name} was not called: you are no longer a member of the active space. Enter another space, or "
            "end this run.",
        ) from None
    except Forbidden as error:
        if error.code != "viewer":
            raise
        raise Forbidden(
            "viewer", f"{question.name} was not called: you are a viewer in this space and may only read."
        ) from None
    call.run.wrote.setdefault(space_id, []).append(message["seq"])
    return message


def _text(question: Question) -> str:
    """The question, for clients that show only text."""
    given = question.input if isinstance(question.input, dict) else {}
    found = next((given[key] for key in ("question", "message", "title") if isinstance(given.get(key), str)), "")
    if question.elicitation is not None and "url" in given:
        found = f"{found}\n\n{given['url']}"
    return clean(found[:_MAX_TEXT]) if question.purpose == "answer" else ""


def _row(
    tx: Tx, call: CallContext, question: Question, message: MessageJson, call_id: str, deadline: int
) -> dict[str, Any]:
    return {
        "id": ids.new("crd"),
        "run_id": call.run.id,
        "call_id": call_id,
        "step": call.step,
        "agent_id": call.run.agent_id,
        "space_id": message["spaceId"],
        "message_id": message["id"],
        "name": question.name,
        "ui": question.ui,
        "purpose": question.purpose,
        "result_schema": question.schema,
        "input_digest": question.digest,
        "approvals": question.approvals,
        "to_admins": question.approvals is not None
        and nobody_here(tx, message["spaceId"], call.run.person_id, question.approvals),
        "paused": not (call.run.cycle or question.held),
        "elicitation": question.elicitation,
        "chain_depth": call.run.chain_depth,
        "deadline": deadline,
        "created_at": tx.now,
    }
