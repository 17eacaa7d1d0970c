"""Events of a consciousness that are in no cycle yet: people's first, then by time (K2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson
import sqlalchemy as sa

from majlis.inbox.build_trigger import build_triggers
from majlis.inbox.deliver import turn_of_event
from majlis.inbox.pause import IN_PAUSED_SPACE
from majlis.inbox.standby import settle_standby, without_standby
from majlis.inbox.trigger_shapes import EventJson
from majlis.inbox.turns import settled_in_turn
from majlis.minds.consciousness.token_budget import BYTES_PER_TOKEN, room_for_inbox
from majlis.store.tables import deliveries
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

# How many pending events are looked at: people's are chosen from these first.
MAX_EVENTS = 1000

_DUE = (
    sa.select(deliveries)
    .where(
        deliveries.c.agent_id == sa.bindparam("agent"),
        deliveries.c.state == word("pending"),
        # A cycle also takes what still gathers (E2).
        sa.or_(
            deliveries.c.not_before <= sa.bindparam("now"),
            sa.and_(deliveries.c.gather_until.is_not(None), deliveries.c.attempts == 0),
        ),
        ~IN_PAUSED_SPACE,
    )
    .order_by(deliveries.c.id)
    .limit(sa.bindparam("limit"))
)
# A claim holds other locks, so it skips rows that another worker has locked; they are for the next cycle. `peek_inbox`
# holds none, so it waits.
_DUE_AND_FREE = _DUE.with_for_update(skip_locked=True)
_DUE_LOCKED = _DUE.with_for_update()
_SETTLE = (
    deliveries.update()
    .where(deliveries.c.id.in_(sa.bindparam("deliveries", expanding=True)))
    .values(state=sa.bindparam("outcome"), run_id=sa.bindparam("run"))
)
# Deliveries that failed tries had taken, as runs of another mind.
_TAKEN_BESIDES = deliveries.update().where(
    deliveries.c.run_id.in_(sa.bindparam("earlier", expanding=True)), deliveries.c.state == word("taken")
)
_TAKE_ALONG = _TAKEN_BESIDES.values(run_id=sa.bindparam("run"))
_OFFER_ALONE = _TAKEN_BESIDES.values(state="pending")


class Arrival(NamedTuple):
    delivery: sa.Row[Any]
    event: EventJson


def look_at_arrivals(tx: Tx, agent_id: str, limit: int = MAX_EVENTS) -> list[Arrival]:
    """Read-only, for a preview."""
    return _readable(tx, tx.all(_DUE, {"agent": agent_id, "now": tx.now, "limit": limit}))[0]


def lock_arrivals(tx: Tx, agent_id: str, wait: bool) -> list[Arrival]:
    """Locked, to be taken in this transaction. Events that the agent may no longer read are dropped (A7)."""
    rows = tx.all(_DUE_LOCKED if wait else _DUE_AND_FREE, {"agent": agent_id, "now": tx.now, "limit": MAX_EVENTS})
    found, gone = _readable(tx, without_standby(tx, rows))
    if gone:
        tx.execute(_SETTLE, {"deliveries": [row.id for row in gone], "outcome": "passed", "run": None})
        for turn_id in {each for row in gone if (each := turn_of_event(row.event_id)) is not None}:
            settled_in_turn(tx, turn_id)
        for row in gone:
            settle_standby(tx, row, "passed")
        earlier = _earlier(gone)
        if earlier:
            tx.execute(_OFFER_ALONE, {"earlier": earlier})
    return found


def affordable(arrived: Sequence[Arrival], most: int, max_tokens: int) -> list[Arrival]:
    """As many events as a cycle can handle: at most `most`, within the inbox's share of its tokens, and at least one.
    The oldest is always among them, so that none waits forever behind people's messages."""
    oldest = min(arrived, key=lambda each: each.delivery.id)
    chosen, room = [oldest], room_for_inbox(max_tokens) - _tokens(oldest)
    for each in arrived:
        room -= _tokens(each) if each is not oldest else 0
        if len(chosen) == most or room < 0:
            break
        if each is not oldest:
            chosen.append(each)
    return sorted(chosen, key=_order)


def take_arrivals(tx: Tx, run_id: str, taken: Sequence[Arrival]) -> None:
    if not taken:
        return
    tx.execute(_SETTLE, {"deliveries": [each.delivery.id for each in taken], "outcome": "taken", "run": run_id})
    earlier = earlier_runs(taken)
    if earlier:
        tx.execute(_TAKE_ALONG, {"earlier": earlier, "run": run_id})


def earlier_runs(taken: Sequence[Arrival]) -> list[str]:
    """Failed tries at these events, oldest first: their calls are shown to the next (K8)."""
    return _earlier([each.delivery for each in taken])


def _earlier(rows: Sequence[sa.Row[Any]]) -> list[str]:
    return sorted({run for row in rows for run in row.payload.get("earlierRuns", ())})


def _readable(tx: Tx, rows: Sequence[sa.Row[Any]]) -> tuple[list[Arrival], list[sa.Row[Any]]]:
    events = build_triggers(tx, rows)
    found = [Arrival(row, events[row.id]) for row in rows if row.id in events]
    return sorted(found, key=_order), [row for row in rows if row.id not in events]


def _tokens(arrival: Arrival) -> int:
    return len(orjson.dumps(arrival.event)) // BYTES_PER_TOKEN


def _order(arrival: Arrival) -> tuple[bool, int, str]:
    return arrival.event.get("senderType") != "human", arrival.delivery.created_at, arrival.delivery.id
