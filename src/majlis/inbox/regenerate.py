"""Another answer of an agent: what it sent is deleted, and the events that its run took are offered again."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.errors import Conflict, Forbidden
from majlis.inbox.wake import WorkAvailable
from majlis.inbox.withdraw import delete_row
from majlis.spaces.edit import lock_message, require_not_deleted
from majlis.spaces.shapes import MessageJson
from majlis.store.tables import deliveries, members, messages
from majlis.store.transactions import Tx

_WRITES = sa.select(members.c.role).where(
    members.c.space_id == sa.bindparam("space"),
    members.c.entity_id == sa.bindparam("agent"),
    members.c.role != "viewer",
)


def regenerate(tx: Tx, caller: Caller, message_id: str) -> MessageJson:
    """For the person whose message it answers, and admins of the space. Returns the deleted message."""
    space, row = lock_message(tx, caller, message_id, "write")
    require_not_deleted(row)
    events = _events_of(tx, row)
    if row.kind != "text" or not events:
        raise Conflict("not_an_answer", "Only an agent's answer to a message can be generated again.")
    if space.role != "admin" and caller.id not in {event.sender_id for event in events}:
        problem = "Only the person whose message it answers and admins of the space can have it generated again."
        raise Forbidden("not_the_asker", problem)
    if any(event.state != "done" for event in events):
        raise Conflict("still_working", "The agent is still working on it. Wait until it is done.")
    again = [event.id for event in events if event.deleted_at is None]
    if not again:
        raise Conflict("question_deleted", "The message that it answers was deleted, so it cannot be answered again.")
    if tx.one(_WRITES, {"space": row.space_id, "agent": row.sender_id}) is None:
        raise Conflict("agent_left", "The agent can no longer write in this space, so it cannot answer again.")
    sent = sa.select(messages).where(
        messages.c.run_id == row.run_id, messages.c.space_id == row.space_id, messages.c.kind == "text"
    )
    for other in tx.all(sent.where(messages.c.deleted_at.is_(None), messages.c.id != row.id).order_by(messages.c.n)):
        delete_row(tx, caller, other)
    deleted = delete_row(tx, caller, row)
    offered = deliveries.update().where(deliveries.c.id.in_(again))
    tx.execute(offered.values(state="pending", attempts=0, not_before=tx.now, elected_id=None))
    tx.outbox.append(WorkAvailable())
    return deleted


def _events_of(tx: Tx, row: sa.Row[Any]) -> list[sa.Row[Any]]:
    """The messages of the space that the run took. Turns of an orchestrator are not offered again (R8)."""
    if row.run_id is None:
        return []
    asked = sa.select(deliveries.c.id, deliveries.c.state, deliveries.c.sender_id, messages.c.deleted_at)
    statement = asked.join(messages, messages.c.id == deliveries.c.message_id).where(
        deliveries.c.run_id == row.run_id,
        deliveries.c.agent_id == row.sender_id,
        deliveries.c.space_id == row.space_id,
        deliveries.c.event_id == deliveries.c.message_id,
    )
    return list(tx.all(statement.order_by(deliveries.c.id)))
