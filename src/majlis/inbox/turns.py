"""Turns of an orchestrated space (R8). The orchestrator routes a message to agents; when each of them has completed
once, the turn is finished and the orchestrator gets a delivery that says so.

The turn's id is the event id of its deliveries: an agent is in a turn once, and the deliveries tell who is in it and
who has completed it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from majlis.inbox.deliver import cause_of_run, insert_deliveries, new_delivery
from majlis.spaces.cause import Cause
from majlis.store import ids
from majlis.store.tables import deliveries, members, messages, spaces, steps, turns
from majlis.store.tables.columns import word, words
from majlis.store.transactions import Tx

_OPEN = sa.select(turns.c.id).where(
    turns.c.request_id == sa.bindparam("request"),
    turns.c.space_id == sa.bindparam("space"),
    turns.c.finished_at.is_(None),
)
_REQUEST = sa.select(turns.c.request_id).where(turns.c.id == sa.bindparam("turn"))
# Locked after the run's own delivery is settled: if two runs end at once, the second sees the first.
_UNFINISHED = (
    sa.select(turns).where(turns.c.id == sa.bindparam("turn"), turns.c.finished_at.is_(None)).with_for_update()
)
_OF_TURN = deliveries.c.message_id == sa.bindparam("message"), deliveries.c.event_id == sa.bindparam("turn")
_STILL_OPEN = sa.select(deliveries.c.id).where(*_OF_TURN, deliveries.c.state.in_(words("pending", "taken"))).limit(1)
_FINISH = (
    turns.update()
    .where(turns.c.id == sa.bindparam("turn"), turns.c.finished_at.is_(None))
    .values(finished_at=sa.bindparam("at"))
)
_LAST_WORD = (
    sa.select(messages.c.id)
    .select_from(deliveries)
    .join(steps, steps.c.run_id == deliveries.c.run_id)
    .join(messages, messages.c.id == steps.c.output["messageId"].as_string())
    .where(*_OF_TURN, steps.c.name == word("send_message"), messages.c.space_id == sa.bindparam("space"))
    .order_by(messages.c.seq.desc())
    .limit(1)
)
_ORCHESTRATOR = (
    sa.select(spaces.c.orchestrator_id)
    .join(members, sa.and_(members.c.space_id == spaces.c.id, members.c.entity_id == spaces.c.orchestrator_id))
    .where(
        spaces.c.id == sa.bindparam("space"), spaces.c.triggers == word("orchestrated"), spaces.c.deleted_at.is_(None)
    )
)


@dataclass(frozen=True, slots=True)
class NewTurn:
    space_id: str
    request_id: str
    message_id: str
    run_id: str
    agent_ids: tuple[str, ...]
    phase: str | None
    reason: str | None
    # The depth of the runs it triggers.
    chain_depth: int


def request_of(tx: Tx, turn_id: str) -> str | None:
    """The message that this chain of turns began with."""
    return tx.execute(_REQUEST, {"turn": turn_id}).scalar_one_or_none()


def is_under_way(tx: Tx, space_id: str, request_id: str) -> bool:
    return tx.one(_OPEN, {"space": space_id, "request": request_id}) is not None


def begin_turn(tx: Tx, new: NewTurn) -> str:
    turn_id = ids.new("trn")
    values = {
        "id": turn_id,
        "space_id": new.space_id,
        "request_id": new.request_id,
        "message_id": new.message_id,
        "run_id": new.run_id,
        "phase": new.phase,
        "reason": new.reason,
        "chain_depth": new.chain_depth,
        "created_at": tx.now,
    }
    tx.execute(turns.insert(), values)
    events = ((agent_id, turn_id, new.message_id) for agent_id in new.agent_ids)
    _deliver(tx, new.space_id, turn_id, new.chain_depth, cause_of_run(tx, new.run_id), events)
    return turn_id


def settled_in_turn(tx: Tx, turn_id: str) -> None:
    """Called when an agent has completed its part of the turn, or no longer can."""
    turn = tx.one(_UNFINISHED, {"turn": turn_id})
    if turn is None:
        return
    which = {"turn": turn_id, "message": turn.message_id}
    if tx.one(_STILL_OPEN, which) is not None:
        return
    if tx.execute(_FINISH, {"turn": turn_id, "at": tx.now}).rowcount == 1:
        _tell_orchestrator(tx, turn, which)


def _tell_orchestrator(tx: Tx, turn: sa.Row[Any], which: dict[str, str]) -> None:
    orchestrator = tx.execute(_ORCHESTRATOR, {"space": turn.space_id}).scalar_one_or_none()
    if orchestrator is None:
        return
    # About the last message of the turn, so that the next agents see everything up to it.
    about = tx.execute(_LAST_WORD, {**which, "space": turn.space_id}).scalar_one_or_none() or turn.message_id
    cause = cause_of_run(tx, turn.run_id)
    _deliver(tx, turn.space_id, turn.id, turn.chain_depth, cause, [(orchestrator, f"{turn.id}.finished", about)])


def _deliver(
    tx: Tx, space_id: str, turn_id: str, depth: int, cause: Cause, events: Iterable[tuple[str, str, str]]
) -> None:
    payload = {"senderExpectsReply": False, "turnId": turn_id}
    rows = [
        new_delivery(
            tx,
            agent_id,
            "space_message",
            event_id,
            payload,
            depth,
            cause=cause,
            space_id=space_id,
            message_id=message_id,
        )
        for agent_id, event_id, message_id in events
    ]
    insert_deliveries(tx, rows)
