"""How an ask goes on and ends: answered, or expired at its deadline or for lack of members who can answer.

The caller holds the space's lock. The message and the clients show every change in the same transaction. The first end
wins by one conditional update.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from majlis.asks.queries import SELECT_ASK, Reason, Status, load_answers, needed
from majlis.clock import iso
from majlis.live import log
from majlis.live.log import Signal
from majlis.spaces.access import lock_spaces
from majlis.spaces.post import change_tool_message
from majlis.spaces.shapes import AskStateJson
from majlis.store.tables import asks, members
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

ENDED = "asks.ended"

_IS_OPEN = asks.c.state == word("open")
_END = (
    asks.update()
    .where(asks.c.id == sa.bindparam("ask"), _IS_OPEN)
    .values(state=sa.bindparam("ended"), reason=sa.bindparam("why"), ended_at=sa.bindparam("at", type_=sa.BigInteger))
)
_STRIKE = (
    asks.update()
    .where(asks.c.id == sa.bindparam("ask"), _IS_OPEN)
    .values(named=sa.bindparam("rest", type_=asks.c.named.type))
)
_DUE = (
    sa.select(asks.c.id, asks.c.space_id)
    .where(_IS_OPEN, asks.c.deadline <= sa.bindparam("now"))
    .order_by(asks.c.deadline)
    .limit(sa.bindparam("most"))
)
_OPEN_HERE = sa.select(asks.c.id, asks.c.asker_id, asks.c.named).where(
    _IS_OPEN, asks.c.space_id == sa.bindparam("space")
)
_IS_MEMBER = sa.select(members.c.entity_id).where(
    members.c.space_id == sa.bindparam("space"), members.c.entity_id == sa.bindparam("who")
)


def settle(tx: Tx, ask_id: str) -> None:
    """An answer has come, or has gone: the ask is complete, or shows what it has."""
    ask, counted = load(tx, ask_id)
    if counted and len(counted) >= needed(ask):
        end(tx, ask_id, "answered")
    else:
        show(tx, ask, counted)


def end(tx: Tx, ask_id: str, status: Status, reason: Reason | None = None) -> None:
    """Does nothing if it has ended already."""
    if tx.execute(_END, {"ask": ask_id, "ended": status, "why": reason, "at": tx.now}).rowcount:
        show(tx, *load(tx, ask_id))
        tx.outbox.append(Signal(ENDED, ask_id.encode()))


def expire_asks(tx: Tx, limit: int = 200) -> int:
    """Ends asks past their deadline. Spaces are locked in the order of their ids, as everywhere."""
    due = tx.all(_DUE, {"now": tx.now, "most": limit})
    if due:
        lock_spaces(tx, (row.space_id for row in due))
    for row in due:
        end(tx, row.id, "expired", "timeout")
    return len(due)


def strike_from_asks(tx: Tx, space_id: str, entity_id: str) -> None:
    """Hook for a member who leaves or becomes a viewer: asks that name it go on without it, or end (W9). Asks of a
    former member end, since it may not read the answers."""
    for row in tx.all(_OPEN_HERE, {"space": space_id}):
        if row.asker_id == entity_id and tx.one(_IS_MEMBER, {"space": space_id, "who": entity_id}) is None:
            end(tx, row.id, "expired", "withdrawn")
        elif entity_id in (row.named or ()):
            _strike(tx, row, entity_id)


def _strike(tx: Tx, row: sa.Row[Any], entity_id: str) -> None:
    """Removes the member from those who can answer, unless it has answered: that answer still counts."""
    _, counted = load(tx, row.id)
    if any(each.entity_id == entity_id for each in counted):
        return
    rest = [each for each in row.named if each != entity_id]
    tx.execute(_STRIKE, {"ask": row.id, "rest": rest})
    ask, _ = load(tx, row.id)
    if len(rest) < max(needed(ask), 1):
        end(tx, row.id, "expired", "left")
    else:
        settle(tx, row.id)


def load(tx: Tx, ask_id: str) -> tuple[sa.Row[Any], list[sa.Row[Any]]]:
    """The ask with the answers that count."""
    [(ask, answers)] = load_answers(tx, [tx.execute(SELECT_ASK, {"ask": ask_id}).one()])
    return ask, [each for each in answers if not each.late]


def show(tx: Tx, ask: sa.Row[Any], counted: Sequence[sa.Row[Any]]) -> None:
    """Shows the ask in its message, and as the event `wait.updated` (W10)."""
    changes: dict[str, Any] = {"ask": ask_state(ask, counted)}
    if ask.state == "answered":
        last = counted[-1]
        single = needed(ask) == 1
        output = last.result if single else [{"name": each.name, "result": each.result} for each in counted]
        changes |= {"status": "complete", "output": output, "answeredAt": iso(last.created_at)}
        if single:
            changes["answeredBy"] = {"id": last.entity_id, "name": last.name, "type": last.type}
    elif ask.state == "expired":
        changes |= {"status": "error", "output": {"status": ask.reason}}
    change_tool_message(tx, ask.space_id, ask.message_id, changes)
    tell(tx, ask, counted)


def tell(tx: Tx, ask: sa.Row[Any], counted: Sequence[sa.Row[Any]] = ()) -> None:
    data = {
        "spaceId": ask.space_id,
        "id": ask.id,
        "messageId": ask.message_id,
        "open": ask.state == "open",
        "need": needed(ask),
        "answered": [{"entityId": each.entity_id, "messageId": each.message_id} for each in counted],
    }
    log.record_together(tx, [(ask.space_id, "wait.updated", data)])


def ask_state(ask: Any, counted: Sequence[sa.Row[Any]] = ()) -> AskStateJson:
    return {
        "id": ask.id,
        "kind": ask.kind,
        "fromIds": ask.named or [],
        "need": needed(ask),
        "answers": [
            {
                "by": {"id": each.entity_id, "name": each.name, "type": each.type},
                "result": each.result,
                "at": iso(each.created_at),
                "messageId": each.message_id,
            }
            for each in counted
        ],
    }
