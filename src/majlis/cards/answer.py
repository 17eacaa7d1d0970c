"""Answers a card: a current member of its space submits a value that fits its schema, once."""

from __future__ import annotations

from typing import Any

import orjson
import sqlalchemy as sa

from majlis.agents.config.plain_json import refuse_unsafe_json
from majlis.agents.config.schemas import problem_with
from majlis.cards.close import Answer, close_card
from majlis.entities.caller import Caller
from majlis.errors import Conflict, Forbidden, Invalid, NotFound
from majlis.spaces.access import lock_space
from majlis.spaces.shapes import MessageJson
from majlis.store.tables import cards
from majlis.store.transactions import Tx

_MAX_BYTES = 64 * 1024
_CARD = sa.select(cards).where(cards.c.run_id == sa.bindparam("run"), cards.c.call_id == sa.bindparam("call"))
_OVER = {
    "answered": ("answered_already", "This was already answered."),
    "timeout": ("timed_out", "This timed out. The agent went on without an answer."),
    "withdrawn": ("withdrawn", "This was withdrawn: the run was canceled, or the agent left the space."),
}


def submit_tool_result(tx: Tx, caller: Caller, run_id: str, call_id: str, result: Any) -> MessageJson:
    """The card's message as members see it now."""
    card = _access_card(tx, caller, run_id, call_id)
    _require_say(caller, card)
    if card.state != "open":
        raise Conflict(*_OVER[card.state])
    value = _valid(card, result)
    # Only a person's answer resets a chain (T6).
    depth = 1 if caller.type == "agent" else 0
    message = close_card(tx, card, "answered", Answer(value, caller.id, caller.name, caller.type, depth))
    if message is None:
        raise Conflict(*_OVER[_access_card(tx, caller, run_id, call_id).state])
    return message


def _access_card(tx: Tx, caller: Caller, run_id: str, call_id: str) -> sa.Row[Any]:
    """Locks the card's space. Callers who are not members do not learn that the card exists."""
    unknown = NotFound("unknown_tool_call", f"No card {call_id} of run {run_id} found that you have access to.")
    found = tx.one(_CARD, {"run": run_id, "call": call_id})
    if found is None:
        raise unknown
    try:
        lock_space(tx, caller, found.space_id, "write")
    except NotFound:
        raise unknown from None
    # Read again under the lock: it may have been closed meanwhile.
    return tx.execute(_CARD, {"run": run_id, "call": call_id}).one()


def _require_say(caller: Caller, card: sa.Row[Any]) -> None:
    if caller.id == card.agent_id:
        raise Forbidden("own_question", "An agent cannot answer its own question.")
    if card.purpose == "permission" and caller.type != "human":
        raise Forbidden("people_only", "Only a person can approve a call.")


def _valid(card: sa.Row[Any], result: Any) -> dict[str, Any]:
    value = _in_full(card, result)
    try:
        size = len(refuse_unsafe_json(value))
    except Invalid as error:
        errors: Any = error.details["errors"]
        raise _invalid(errors[0]["path"], errors[0]["message"]) from None
    if size > _MAX_BYTES:
        raise _invalid("", f"is longer than {_MAX_BYTES} bytes")
    problem = problem_with(card.result_schema, value)
    if problem is not None:
        raise _invalid(*problem)
    # Plain JSON, as it is stored.
    valid: dict[str, Any] = orjson.loads(orjson.dumps(value))
    return valid


def _in_full(card: sa.Row[Any], result: Any) -> Any:
    """`true` is short for `{approved: true}`, and an option for `{choice: …}`."""
    if isinstance(result, dict):
        return result
    match card.ui:
        case "approval" if isinstance(result, bool):
            return {"approved": result}
        case "choice":
            return {"choice": result}
    return result


def _invalid(path: str, reason: str) -> Invalid:
    place = f"result.{path}" if path else "result"
    message = f"The answer is not valid: {place}: {reason}. Correct it and submit it again."
    return Invalid("invalid_result", message, {"path": place})
