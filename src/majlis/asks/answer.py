"""Answers to asks: a value that fits, or a reply to the message.

Each member's first valid answer counts. An answer that comes after the end is kept and marked.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.asks.close import end, load, settle, show, tell
from majlis.asks.queries import SELECT_ASK, AskJson, access_ask, ask_json, why_not
from majlis.audit.record import record
from majlis.card_kinds import options_of
from majlis.cards.answer import valid_answer
from majlis.entities.caller import Caller
from majlis.errors import Conflict, Forbidden, Invalid
from majlis.spaces.access import lock_space
from majlis.spaces.shapes import MessageJson
from majlis.store.tables import ask_answers, asks, erasures
from majlis.store.transactions import Dialect, Tx

_INSERT: dict[Dialect, Any] = {
    "sqlite": sqlite.insert(ask_answers).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(ask_answers).on_conflict_do_nothing(),
}
_QUEUE: dict[Dialect, Any] = {
    "sqlite": sqlite.insert(erasures).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(erasures).on_conflict_do_nothing(),
}
_OF_MESSAGE = sa.select(asks.c.id).where(asks.c.message_id == sa.bindparam("message"))
_GIVEN_IN = sa.select(ask_answers).where(ask_answers.c.message_id == sa.bindparam("message"))
_COPIES_SINCE_MILLIS = 600_000


def answer_ask(tx: Tx, caller: Caller, ask_id: str, result: Any) -> AskJson:
    found = access_ask(tx, caller, ask_id)
    caller.require_scope("approve" if found.kind == "approval" else "write")
    lock_space(tx, caller, found.space_id, "write")
    # Read again under the lock: it may have ended meanwhile.
    ask = tx.execute(SELECT_ASK, {"ask": ask_id}).one()
    if ask.reason in ("withdrawn", "deleted"):
        raise Conflict("withdrawn", "This question was withdrawn.")
    refused = why_not(ask, caller)
    if refused is not None:
        raise Forbidden(*refused)
    value = valid_answer(ask.kind, ask.result_schema, result)
    if not _give(tx, ask, caller.id, value):
        raise Conflict("answered_already", "You have answered this already. The first answer counts.")
    if ask.kind == "approval":
        record(tx, caller, "ask.answered", ask_id, spaceId=ask.space_id, approved=value["approved"])
    return ask_json(tx, tx.execute(SELECT_ASK, {"ask": ask_id}).one())


def answer_by_reply(tx: Tx, sender: Caller, message: MessageJson) -> None:
    """Hook for a reply to a tool's message, in the transaction that stores it. A reply that does not fit is just a
    message."""
    found = tx.one(_OF_MESSAGE, {"message": message["replyTo"]})
    if found is None:
        return
    ask = tx.execute(SELECT_ASK, {"ask": found.id}).one()
    if ask.kind not in ("text", "choice") or ask.reason in ("withdrawn", "deleted"):
        return
    if why_not(ask, sender) is not None:
        return
    try:
        value = valid_answer(ask.kind, ask.result_schema, _meant(ask, message["text"]))
    except Invalid:
        return
    _give(tx, ask, sender.id, value, message["id"])


def _meant(ask: sa.Row[Any], text: str) -> Any:
    """The option that a text names, without regard to case and a final full stop."""
    if ask.kind == "text":
        return text
    said = text.strip().rstrip(".!").casefold()
    options = options_of(ask.result_schema)
    return next((option for option in options if option.casefold() in (said, text.strip().casefold())), text)


def _give(tx: Tx, ask: sa.Row[Any], entity_id: str, value: Any, message_id: str | None = None) -> bool:
    """False if the member has answered before."""
    if ask.state == "open" and ask.deadline <= tx.now:
        end(tx, ask.id, "expired", "timeout")
        return _give(tx, tx.execute(SELECT_ASK, {"ask": ask.id}).one(), entity_id, value, message_id)
    late = ask.state != "open"
    row = {
        "ask_id": ask.id,
        "entity_id": entity_id,
        "space_id": ask.space_id,
        "result": value,
        "message_id": message_id,
        "late": late,
        "created_at": tx.now,
    }
    if tx.execute(_INSERT[tx.dialect], row).rowcount == 0:
        return False
    if not late:
        settle(tx, ask.id)
    return True


def forget_message(tx: Tx, message: sa.Row[Any]) -> None:
    """Hook for a deleted message (L2), under the space's lock. As an answer it no longer counts while the ask is open
    (W9), and its text goes; as a question it ends the ask."""
    asked = tx.one(_OF_MESSAGE, {"message": message.id}) if message.kind == "tool" else None
    if asked is not None:
        _forget_ask(tx, asked.id)
    for row in tx.all(_GIVEN_IN, {"message": message.id}):
        _forget_answer(tx, row, message)


def _forget_ask(tx: Tx, ask_id: str) -> None:
    """Ends the ask without `show`, because the message itself changes next."""
    ask, _ = load(tx, ask_id)
    tx.execute(ask_answers.delete().where(ask_answers.c.ask_id == ask_id))
    end(tx, ask_id, "expired", "deleted")
    gone = {"question": "", "result_schema": {}}
    tx.execute(asks.update().where(asks.c.id == ask_id).values(**gone))
    if ask.state != "open":
        tell(tx, load(tx, ask_id)[0])


def _forget_answer(tx: Tx, row: sa.Row[Any], message: sa.Row[Any]) -> None:
    which = ask_answers.c.ask_id == row.ask_id, ask_answers.c.entity_id == row.entity_id
    ask, _ = load(tx, row.ask_id)
    if ask.state == "open":
        tx.execute(ask_answers.delete().where(*which))
    else:
        tx.execute(ask_answers.update().where(*which).values(result=None))
    show(tx, *load(tx, row.ask_id))
    # Earlier events of the ask's message have the text, too.
    queued = {
        "message_id": ask.message_id,
        "space_id": ask.space_id,
        "texts": [message.text],
        "written_at": ask.created_at - _COPIES_SINCE_MILLIS,
        "deleted_at": tx.now,
        "due_at": tx.now,
    }
    tx.execute(_QUEUE[tx.dialect], queued)
