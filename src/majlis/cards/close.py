"""How a card ends: answered, timed out, or withdrawn. The first wins by one conditional update; the others change
nothing (J5).

The caller holds the space's lock. In the same transaction the message shows the end, and the run goes back to `queued`
with the answer as the result of its call, or a consciousness gets an event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from majlis.clock import iso
from majlis.inbox.deliver import deliver_tool_result
from majlis.inbox.wake import QUEUED, WorkAvailable
from majlis.spaces.access import lock_spaces
from majlis.spaces.post import change_tool_message, finish_tool_message
from majlis.spaces.shapes import FileJson, MessageJson
from majlis.store.tables import cards, members, runs, steps
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx
from majlis.waits.wait import Outcome, Wait, end_wait

State = Literal["answered", "timeout", "withdrawn"]

_CLOSE = (
    cards.update()
    .where(cards.c.id == sa.bindparam("card"), cards.c.state == word("open"))
    .values(
        state=sa.bindparam("ended"),
        answer=sa.bindparam("given", type_=cards.c.answer.type),
        answered_by=sa.bindparam("who"),
        answered_at=sa.bindparam("at", type_=sa.BigInteger),
        used_at=sa.bindparam("used", type_=sa.BigInteger),
    )
)
_WAITING = sa.select(runs.c.wait, runs.c.chain_depth).where(
    runs.c.id == sa.bindparam("run"), runs.c.status == word("waiting_tool")
)
_RESULT = (
    steps.update()
    .where(steps.c.run_id == sa.bindparam("run"), steps.c.n == sa.bindparam("step"))
    .values(
        state=sa.bindparam("outcome"),
        output=sa.bindparam("result", type_=steps.c.output.type),
        ended_at=sa.bindparam("at", type_=sa.BigInteger),
        secret=sa.null(),
    )
)
_DUE = (
    sa.select(cards)
    .where(cards.c.state == word("open"), cards.c.deadline <= sa.bindparam("now"))
    .order_by(cards.c.deadline)
    .limit(sa.bindparam("most"))
)
_OPEN = sa.select(cards).where(cards.c.state == word("open")).order_by(cards.c.space_id, cards.c.id)
_OF_RUN = _OPEN.where(cards.c.run_id == sa.bindparam("run"))
_OF_FORMER_MEMBER = _OPEN.where(
    cards.c.space_id == sa.bindparam("space"),
    cards.c.agent_id == sa.bindparam("agent"),
    ~sa.exists().where(members.c.space_id == cards.c.space_id, members.c.entity_id == cards.c.agent_id),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A member's answer; the value is None if the member declined. `depth` continues the chain if an agent answered
    (T6)."""

    value: Any
    id: str
    name: str
    type: str
    depth: int = 0
    files: Sequence[FileJson] = ()


def close_card(tx: Tx, card: sa.Row[Any], state: State, answer: Answer | None = None) -> MessageJson | None:
    """The card's message as it is now, or None if the card was closed already."""
    refused = answer is None or answer.value is None or answer.value.get("approved") is not True
    values = {
        "card": card.id,
        "ended": state,
        "given": answer.value if answer else None,
        "who": answer.id if answer else None,
        "at": tx.now,
        # Only an approval can still be used, once.
        "used": tx.now if card.purpose == "permission" and refused else None,
    }
    if tx.execute(_CLOSE, values).rowcount == 0:
        return None
    message = _show(tx, card, state, answer)
    if card.paused:
        _go_on(tx, card, state, answer)
    elif card.elicitation is None:
        told = _event_result(card, state, answer)
        deliver_tool_result(tx, card.agent_id, card.run_id, card.call_id, card.name, told, card.chain_depth)
    return message


def time_out_cards(tx: Tx, limit: int = 200) -> int:
    """Closes cards past their deadline. Spaces are locked in the order of their ids, as everywhere."""
    due = tx.all(_DUE, {"now": tx.now, "most": limit})
    if due:
        lock_spaces(tx, (card.space_id for card in due))
    for card in due:
        close_card(tx, card, "timeout")
    return len(due)


def spaces_asked_by(tx: Tx, run_id: str) -> set[str]:
    """Where the run's open cards are: these spaces are locked before the run is ended."""
    return {card.space_id for card in tx.all(_OF_RUN, {"run": run_id})}


def withdraw_cards_of_run(tx: Tx, run_id: str) -> None:
    """The run was canceled: it no longer waits for an answer."""
    for card in tx.all(_OF_RUN, {"run": run_id}):
        values = {"card": card.id, "ended": "withdrawn", "given": None, "who": None, "at": tx.now, "used": tx.now}
        if tx.execute(_CLOSE, values).rowcount:
            _show(tx, card, "withdrawn", None)
            if card.paused and card.elicitation is not None:
                # If the call was shown, its message still says that it runs.
                mark = f"{run_id}:{card.step}"
                finish_tool_message(tx, card.space_id, card.agent_id, mark, {"status": "canceled"}, "error")
            if card.paused or card.elicitation is None:
                _write_result(tx, card, "withdrawn", None)


def withdraw_held_cards(tx: Tx, run_id: str) -> None:
    """The call that asked is over, so no answer can reach it."""
    held = [card for card in tx.all(_OF_RUN, {"run": run_id}) if card.elicitation is not None and not card.paused]
    if held:
        lock_spaces(tx, (card.space_id for card in held))
    for card in held:
        close_card(tx, card, "withdrawn")


def withdraw_cards_of_member(tx: Tx, space_id: str, entity_id: str) -> None:
    """Hook for a member that leaves: its runs go on without an answer (A7). An agent that became a viewer keeps its
    cards."""
    for card in tx.all(_OF_FORMER_MEMBER, {"space": space_id, "agent": entity_id}):
        close_card(tx, card, "withdrawn")


def _show(tx: Tx, card: sa.Row[Any], state: State, answer: Answer | None) -> MessageJson | None:
    if answer is None:
        return change_tool_message(tx, card.space_id, card.message_id, {"status": "error", "output": {"status": state}})
    answered = {
        "status": "complete",
        "output": answer.value if answer.value is not None else {"status": "declined"},
        "answeredBy": {"id": answer.id, "name": answer.name, "type": answer.type},
        "answeredAt": iso(tx.now),
    }
    return change_tool_message(tx, card.space_id, card.message_id, answered, answer.files)


def _go_on(tx: Tx, card: sa.Row[Any], state: State, answer: Answer | None) -> None:
    waiting = tx.one(_WAITING, {"run": card.run_id})
    if waiting is None:
        return
    permission = card.purpose == "permission" and answer is not None
    outcome = Outcome(
        status=state,
        at=iso(tx.now),
        tool_name=card.name,
        purpose=card.purpose,
        sender_id=answer.id if answer else None,
        sender_name=answer.name if answer else None,
        approved=answer.value["approved"] if answer and permission else None,
        continues=True if card.elicitation is not None else None,
    )
    if not (outcome.approved or outcome.continues):
        # Such a call is made when the run resumes, and only then has a result.
        _write_result(tx, card, state, answer)
    depth = max(waiting.chain_depth, answer.depth if answer else 0)
    end_wait(tx, card.run_id, "waiting_tool", Wait.model_validate(waiting.wait), depth, outcome)
    tx.outbox.append(WorkAvailable(payload=QUEUED))


def _write_result(tx: Tx, card: sa.Row[Any], state: State, answer: Answer | None) -> None:
    result = _result(card, state, answer)
    failed = state == "withdrawn" or card.purpose == "permission"
    values = {"run": card.run_id, "step": card.step, "outcome": "error" if failed else "done", "result": result}
    tx.execute(_RESULT, {**values, "at": tx.now})


def _event_result(card: sa.Row[Any], state: State, answer: Answer | None) -> Any:
    if card.purpose == "permission" and answer is not None and answer.value["approved"]:
        hint = f"Call {card.name} again with exactly the same input. The approval is good for one call."
        return {**answer.value, "answeredBy": answer.name, "next": hint}
    return _result(card, state, answer)


def _result(card: sa.Row[Any], state: State, answer: Answer | None) -> Any:
    """The submitted value is the result (J5); any other end says what happened."""
    seconds = (card.deadline - card.created_at) // 1000
    if card.purpose == "answer":
        if answer is not None:
            return answer.value
        if state == "timeout":
            return {"status": "timeout", "message": f"No answer within {seconds} s."}
        return {"success": False, "status": "withdrawn", "error": f"{card.name} was withdrawn before it was answered."}
    if answer is not None:
        comment = answer.value.get("comment")
        why = f': "{comment}"' if comment else "."
        error = f"{card.name} was not called: {answer.name} did not approve it{why}"
        return {"success": False, "status": "refused", "error": error}
    if state == "timeout":
        error = f"{card.name} was not called: it was not approved within {seconds} s."
        return {"success": False, "status": "timeout", "error": error}
    error = f"{card.name} was not called: the request for permission was withdrawn."
    return {"success": False, "status": "withdrawn", "error": error}
