"""What has failed is offered once more because a person asks for it."""

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

# With all its tries before it. The time says that it was tried before: in a lane it goes first (R5).
_OFFER_AGAIN = (
    deliveries.update()
    .where(
        deliveries.c.message_id == sa.bindparam("message"),
        deliveries.c.agent_id == sa.bindparam("agent"),
        deliveries.c.state == "failed",
    )
    .values(state="pending", attempts=0, not_before=sa.bindparam("at"))
)


def retry_delivery(tx: Tx, caller: Caller, message_id: str, agent_id: str) -> list[MessageDeliveryJson]:
    """For members who may write. Of two who ask at once, one does it and the other is told that there is nothing to
    do. The answer is what became of the message now."""
    message = access_message(tx, caller, message_id)
    access_space(tx, caller, message.space_id, "write")
    offered = tx.execute(_OFFER_AGAIN, {"message": message_id, "agent": agent_id, "at": tx.now})
    if offered.rowcount == 0:
        raise Conflict("not_failed", "Only a delivery that has failed is tried again; this one has not.")
    tx.outbox.append(WorkAvailable())
    return list_deliveries(tx, caller, message_id)
