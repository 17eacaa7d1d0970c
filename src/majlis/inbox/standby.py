"""Deliveries that stand by: in an elected space the other agents get a message only if the elected agent does not
answer it (E12).

All deliveries of such a message have `elected_id`. The elected agent's own is due at once, the others 10 s later. The
state of the elected agent's delivery decides what becomes of the others, whenever a claim finds them due: so two
workers come to the same result, and a crash loses nothing. The transaction that settles the elected agent's delivery
also passes the others or makes them due.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import sqlalchemy as sa

from majlis.inbox.wake import WorkAvailable
from majlis.store.tables import agents, deliveries, entities, runs
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

# The elected agent has this long to begin.
BEGIN_MILLIS = 10_000
# How soon a claim looks again while the elected agent works: a tenth of the message's age, within these limits.
_SOONEST_LOOK = 1000
_LATEST_LOOK = 60_000

STANDS_BY: sa.ColumnElement[bool] = sa.and_(
    deliveries.c.elected_id.is_not(None),
    deliveries.c.elected_id != deliveries.c.agent_id,
    # A try that failed is repeated, whatever the elected agent does.
    deliveries.c.attempts == 0,
)
# A claim locks deliveries before spaces, and a run that ends locks its spaces first. So rows that are locked are
# skipped here: the claim that holds them, or the next, finds what the elected agent did.
_STANDBY = (
    sa.select(deliveries.c.id, deliveries.c.payload, entities.c.name)
    .join(entities, entities.c.id == deliveries.c.elected_id)
    .where(
        deliveries.c.message_id == sa.bindparam("message"),
        deliveries.c.elected_id == sa.bindparam("elected"),
        deliveries.c.state == word("pending"),
        STANDS_BY,
    )
    .with_for_update(skip_locked=True, of=deliveries)
)
_ELECTED = (
    sa.select(
        deliveries.c.message_id,
        deliveries.c.state,
        deliveries.c.attempts,
        entities.c.name,
        agents.c.paused_at,
        sa.and_(runs.c.status == word("queued"), runs.c.reason == word("budget")).label("out_of_budget"),
    )
    .join(entities, entities.c.id == deliveries.c.agent_id)
    .join(agents, agents.c.id == deliveries.c.agent_id)
    .outerjoin(runs, runs.c.id == deliveries.c.run_id)
    .where(
        deliveries.c.message_id.in_(sa.bindparam("messages", expanding=True)),
        deliveries.c.elected_id == deliveries.c.agent_id,
    )
)
_this = deliveries.c.id == sa.bindparam("delivery")
_DUE_AT = deliveries.update().where(_this).values(not_before=sa.bindparam("at", type_=sa.BigInteger))
_PASS = (
    deliveries.update()
    .where(_this)
    .values(state="passed", payload=sa.bindparam("kept", type_=deliveries.c.payload.type))
)

Verdict = Literal["start", "wait", "pass"]


def settle_standby(tx: Tx, delivery: sa.Row[Any], outcome: str, canceled: str | None = None) -> None:
    """Call it when a delivery is settled. If it is the elected agent's, the others are passed or become due. `canceled`
    says who canceled the run: then the other agents are not woken."""
    if delivery.elected_id is None or delivery.elected_id != delivery.agent_id:
        return
    others = tx.all(_STANDBY, {"message": delivery.message_id, "elected": delivery.elected_id})
    if outcome == "done" or canceled is not None:
        _pass(tx, ((row, canceled or _answered(row.name)) for row in others))
    elif others:
        tx.execute(_DUE_AT, [{"delivery": row.id, "at": tx.now} for row in others])
        tx.outbox.append(WorkAvailable())


def without_standby(tx: Tx, due: Sequence[sa.Row[Any]]) -> Sequence[sa.Row[Any]]:
    """Returns the due deliveries that may start. The others are passed, or checked again later."""
    standing = [row for row in due if row.elected_id not in (None, row.agent_id) and row.attempts == 0]
    if not standing:
        return due
    found = tx.all(_ELECTED, {"messages": sorted({row.message_id for row in standing})})
    elected = {row.message_id: row for row in found}
    verdicts = {row.id: _verdict(elected.get(row.message_id)) for row in standing}
    _pass(tx, ((row, _answered(elected[row.message_id].name)) for row in standing if verdicts[row.id] == "pass"))
    waiting = [{"delivery": row.id, "at": _next_look(tx, row)} for row in standing if verdicts[row.id] == "wait"]
    if waiting:
        tx.execute(_DUE_AT, waiting)
    return [row for row in due if verdicts.get(row.id, "start") == "start"]


def _verdict(elected: sa.Row[Any] | None) -> Verdict:
    """An agent that is paused or out of budget is not at work, even if it has begun."""
    if elected is None:
        return "start"
    if elected.state == "done":
        return "pass"
    begun = elected.state == "taken" or (elected.state == "pending" and elected.attempts > 0)
    return "wait" if begun and elected.paused_at is None and not elected.out_of_budget else "start"


def _next_look(tx: Tx, row: sa.Row[Any]) -> int:
    age: int = tx.now - row.created_at
    return tx.now + min(max(age // 10, _SOONEST_LOOK), _LATEST_LOOK)


def _pass(tx: Tx, rows: Iterable[tuple[sa.Row[Any], str]]) -> None:
    kept = [{"delivery": row.id, "kept": {**row.payload, "reason": reason}} for row, reason in rows]
    if kept:
        tx.execute(_PASS, kept)


def _answered(name: str) -> str:
    return f"{name} answered"
