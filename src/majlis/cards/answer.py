"""Answering a card: by a member of its space at this moment, with a value that fits, and once."""

from __future__ import annotations

from typing import Any

import orjson
import sqlalchemy as sa

from majlis.agents.config.schemas import problem_with
from majlis.agents.config.plain_json import refuse_unsafe_json
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
    "answered": ("answered_already", "Somebody has answered this already."),
    "timeout": ("timed_out", "Nobody answered in time: the agent has gone on without an answer."),
    "withdrawn": ("withdrawn", "This is not asked any more: the run was ended, or the agent has left the space."),
}


def submit_tool_result(tx: Tx, caller: Caller, run_id: str, call_id: str, result: Any) -> MessageJson:
    """The card's message, as everybody sees it now."""
    card = _access_card(tx, caller, run_id, call_id)
    _require_say(caller, card)
    if card.state != "open":
        raise Conflict(*_OVER[card.state])
    value = _fitting(card, result)
    # T6: an agent's answer is no person's.
    depth = 1 if caller.type == "agent" else 0
    message = close_card(tx, card, "answered", Answer(value, caller.id, caller.name, caller.type, depth))
    if message is None:
        raise Conflict(*_OVER[_access_card(tx, caller, run_id, call_id).state])
    return message


def _access_card(tx: Tx, caller: Caller, run_id: str, call_id: str) -> sa.Row[Any]:
    """Whoever is no member of the space does not learn that there is one. Holds the space's lock."""
    unknown = NotFound("unknown_tool_call", f"Run {run_id} has asked nothing under this id that you may see.")
    found = tx.one(_CARD, {"run": run_id, "call": call_id})
    if found is None:
        raise unknown
    try:
        lock_space(tx, caller, found.space_id, "write")
    except NotFound:
        raise unknown from None
    # Again, under the lock: it may have been closed while this one waited.
    return tx.execute(_CARD, {"run": run_id, "call": call_id}).one()


def _require_say(caller: Caller, card: sa.Row[Any]) -> None:
    if caller.id == card.agent_id:
        raise Forbidden("own_question", "An agent cannot answer what it has asked itself.")
    if card.purpose == "permission" and caller.type != "human":
        raise Forbidden("people_only", "Only a person can permit a call.")


def _fitting(card: sa.Row[Any], result: Any) -> dict[str, Any]:
    value = _in_full(card, result)
    try:
        size = len(refuse_unsafe_json(value))
    except Invalid as error:
        errors: Any = error.details["errors"]
        raise _unfit(errors[0]["path"], errors[0]["message"]) from None
    if size > _MAX_BYTES:
        raise _unfit("", f"is longer than {_MAX_BYTES} bytes")
    problem = problem_with(card.result_schema, value)
    if problem is not None:
        raise _unfit(*problem)
    # As it is kept: tuples and the like of a caller's JSON library are gone.
    fitting: dict[str, Any] = orjson.loads(orjson.dumps(value))
    return fitting


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


def _unfit(path: str, reason: str) -> Invalid:
    place = f"result.{path}" if path else "result"
    message = f"The answer does not fit: {place}: {reason}. The question is still open; answer it again, mended."
    return Invalid("invalid_result", message, {"path": place})
