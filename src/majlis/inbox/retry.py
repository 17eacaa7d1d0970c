"""Retries: the back-off of failed deliveries, and another try when a person asks for it."""

from __future__ import annotations

import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.errors import Conflict
from majlis.inbox.queries import MessageDeliveryJson, list_deliveries
from majlis.inbox.wake import WorkAvailable
from majlis.spaces.access import access_space
from majlis.spaces.history import access_message
from majlis.store.tables import deliveries
from majlis.store.transactions import Tx

# `not_before` marks it as tried before, so that it goes first in its lane (R5).
_OFFER_AGAIN = (
    deliveries.update()
    .where(
        deliveries.c.message_id == sa.bindparam("message"),
        deliveries.c.agent_id == sa.bindparam("agent"),
        deliveries.c.state == "failed",
    )
    .values(state="pending", attempts=0, not_before=sa.bindparam("at"))
)


def back_off(attempts: int) -> int:
    """Milliseconds until the next try: 1 s, 4 s, 16 s … at most five minutes."""
    return int(min(1000 * 4**attempts, 300_000))


def retry_delivery(tx: Tx, caller: Caller, message_id: str, agent_id: str) -> list[MessageDeliveryJson]:
    """For members who may write. Returns the message's deliveries as they are now."""
    message = access_message(tx, caller, message_id)
    access_space(tx, caller, message.space_id, "write")
    offered = tx.execute(_OFFER_AGAIN, {"message": message_id, "agent": agent_id, "at": tx.now})
    if offered.rowcount == 0:
        raise Conflict("not_failed", "This delivery has not failed, so there is nothing to retry.")
    tx.outbox.append(WorkAvailable())
    return list_deliveries(tx, caller, message_id)
