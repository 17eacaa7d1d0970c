"""How a run ends: status, cursors, deliveries and events in one transaction. What is owed is settled, or offered again.

Each takes the space's lock with its event first and the run's row last (`hold`), like everything that touches both.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.inbox.wake import QUEUED, WorkAvailable
from majlis.runs.announcing import announce, presence, run_event
from majlis.runs.journal import Entry, hold, write_entries
from majlis.runs.working import Working
from majlis.spaces.posting import post_notice
from majlis.store.hot import hot
from majlis.store.tables import deliveries, members
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

_MOVE_CURSOR = hot(
    members.update()
    .where(
        members.c.space_id == sa.bindparam("space"),
        members.c.entity_id == sa.bindparam("agent"),
        sa.or_(members.c.processed_seq.is_(None), members.c.processed_seq < sa.bindparam("seq", type_=sa.BigInteger)),
    )
    .values(processed_seq=sa.bindparam("seq", type_=sa.BigInteger))
)
_SETTLE = hot(
    deliveries.update()
    .where(deliveries.c.run_id == sa.bindparam("run"), deliveries.c.state == word("taken"))
    .values(state=sa.bindparam("outcome"))
)
_TAKEN = (
    sa.select(
        deliveries.c.id, deliveries.c.attempts, deliveries.c.payload, deliveries.c.space_id, deliveries.c.message_id
    )
    .where(deliveries.c.run_id == sa.bindparam("run"), deliveries.c.state == word("taken"))
    .order_by(deliveries.c.id)
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


def complete(tx: Tx, run: Working, entries: list[Entry], reason: str | None = None) -> None:
    write_entries(tx, run.id, entries)
    announce(tx, run_event("run.completed", run, reason=reason) + presence("agent.inactive", run))
    for space_id, seq in run.cursors().items():
        tx.execute(_MOVE_CURSOR, {"space": space_id, "agent": run.agent_id, "seq": seq})
    settle_deliveries(tx, run.id, "done" if any(run.wrote.values()) else "passed")
    hold(tx, run.id, run.fence, **run.columns(), **_ended(tx, "completed"), reason=reason)
    tx.outbox.append(WorkAvailable())


def fail(tx: Tx, run: Working, entries: list[Entry], code: str, message: str, retryable: bool, attempts: int) -> None:
    """What the run had taken is offered again with back-off, up to `attempts` times in all (T12); after that, or when
    it cannot help, it has failed, and the space is told (J7). Cursors stay (C2)."""
    write_entries(tx, run.id, entries)
    error = {"code": code, "message": message}
    announce(tx, run_event("run.failed", run, error=error) + presence("agent.inactive", run))
    taken = tx.all(_TAKEN, {"run": run.id})
    if taken:
        trigger = next((each for each in taken if each.message_id == run.trigger.get("messageId")), taken[0])
        _offer_again(tx, run, trigger, retryable and trigger.attempts + 1 < attempts, message)
    hold(tx, run.id, run.fence, **run.columns(), **_ended(tx, "failed"), error=error)
    tx.outbox.append(WorkAvailable())


def _offer_again(tx: Tx, run: Working, trigger: sa.Row[Any], again: bool, message: str) -> None:
    """One run goes on with all that this one had taken: what it was answered, or had absorbed, stays taken until the
    next try at its trigger takes it along."""
    earlier = [*trigger.payload.get("earlierRuns", ()), run.id][-10:]
    values = {
        "delivery": trigger.id,
        "outcome": "pending" if again else "failed",
        "at": tx.now + back_off(trigger.attempts),
        "kept": {**trigger.payload, "earlierRuns": earlier},
    }
    tx.execute(_OFFER_AGAIN, values)
    if not again:
        settle_deliveries(tx, run.id, "failed")
        if trigger.space_id is not None:
            post_notice(tx, trigger.space_id, _failure(run, message), trigger.message_id)


def hand_back(tx: Tx, run: Working) -> None:
    """This worker stops: another one may go on at once. Only what was spent is added to the row: the last call may
    have been committed without this worker having heard of it, and what the row says of it is true."""
    announce(tx, presence("agent.inactive", run))
    hold(tx, run.id, run.fence, **run.spent(), status="queued", lease_owner=None)
    tx.outbox.append(WorkAvailable(payload=QUEUED))


def settle_deliveries(tx: Tx, run_id: str, outcome: str) -> None:
    tx.execute(_SETTLE, {"run": run_id, "outcome": outcome})


def back_off(attempts: int) -> int:
    """Milliseconds until the next try: 1 s, 4 s, 16 s … at most five minutes."""
    return int(min(1000 * 4**attempts, 300_000))


def _ended(tx: Tx, status: str) -> dict[str, Any]:
    return {"status": status, "ended_at": tx.now, "lease_owner": None, "wait_space_id": None, "deadline": None}


def _failure(run: Working, message: str) -> str:
    sender = run.trigger.get("senderName")
    asked = f"{sender}'s message" if sender else "this"
    return f"{run.agent_name} could not answer {asked}: {message}"
