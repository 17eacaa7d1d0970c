"""Retries: the back-off of failed deliveries, and another try when a person asks for it."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.errors import Conflict
from majlis.inbox.queries import MessageDeliveryJson, list_deliveries
from majlis.inbox.wake import WorkAvailable
from majlis.spaces.access import access_space
from majlis.spaces.history import access_message
from majlis.store.tables import deliveries
from majlis.store.transactions import Tx

# `not_before` marks it as tried before, so that it goes first in its lane (R5). It no longer stands by (E12).
_RETRY_FAILED = (
    deliveries.update()
    .where(
        deliveries.c.message_id == sa.bindparam("message"),
        deliveries.c.agent_id == sa.bindparam("agent"),
        deliveries.c.state == "failed",
    )
    .values(state="pending", attempts=0, not_before=sa.bindparam("at"), elected_id=None)
)
_OFFER_AGAIN = (
    deliveries.update()
    .where(deliveries.c.id == sa.bindparam("delivery"))
    .values(
        state=sa.bindparam("outcome"),
        attempts=deliveries.c.attempts + 1,
        not_before=sa.bindparam("at"),
        payload=sa.bindparam("kept", type_=deliveries.c.payload.type),
    )
)
# Failed tries whose calls are shown to the next.
_MOST_EARLIER = 10


def back_off(attempts: int) -> int:
    """Milliseconds until the next try: 1 s, 4 s, 16 s … at most five minutes."""
    return int(min(1000 * 4**attempts, 300_000))


def offer_again(tx: Tx, delivery: sa.Row[Any], run_id: str, at: int | None, **payload: Any) -> None:
    """Makes a delivery pending again after the try `run_id`, or failed if there is no next time."""
    values = {
        "delivery": delivery.id,
        "outcome": "failed" if at is None else "pending",
        "at": tx.now if at is None else at,
        "kept": with_earlier({**delivery.payload, **payload}, run_id),
    }
    tx.execute(_OFFER_AGAIN, values)


def with_earlier(payload: dict[str, Any], run_id: str) -> dict[str, Any]:
    """The next try is shown the calls of this one."""
    return {**payload, "earlierRuns": [*payload.get("earlierRuns", ()), run_id][-_MOST_EARLIER:]}


def retry_delivery(tx: Tx, caller: Caller, message_id: str, agent_id: str) -> list[MessageDeliveryJson]:
    """For members who may write. Returns the message's deliveries as they are now."""
    message = access_message(tx, caller, message_id)
    access_space(tx, caller, message.space_id, "write")
    offered = tx.execute(_RETRY_FAILED, {"message": message_id, "agent": agent_id, "at": tx.now})
    if offered.rowcount == 0:
        raise Conflict("not_failed", "This delivery has not failed, so there is nothing to retry.")
    tx.outbox.append(WorkAvailable())
    return list_deliveries(tx, caller, message_id)
