"""One cheap look at the ledger: is there anything to do, and when will there be? Asked every second at the latest, so
that a lost wake-up costs a second and no more."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from majlis.clock import Millis
from majlis.store.tables import agents, deliveries, plans, runs
from majlis.store.transactions import Tx

_LOOK = sa.select(
    sa.select(sa.func.min(deliveries.c.not_before))
    .where(deliveries.c.state == "pending")
    .scalar_subquery()
    .label("owed"),
    sa.exists().where(runs.c.status == "queued").label("queued"),
    sa.select(sa.func.min(runs.c.lease_until)).where(runs.c.status == "running").scalar_subquery().label("lease"),
    sa.select(sa.func.min(runs.c.deadline))
    .where(runs.c.status.in_(("waiting_reply", "waiting_tool")), runs.c.deadline.is_not(None))
    .scalar_subquery()
    .label("deadline"),
    sa.select(sa.func.min(plans.c.next_at)).where(plans.c.next_at.is_not(None)).scalar_subquery().label("plan"),
    sa.select(sa.func.min(agents.c.heartbeat_at))
    .where(agents.c.heartbeat_at.is_not(None))
    .scalar_subquery()
    .label("beat"),
    sa.exists().where(runs.c.status == "waiting_reply", runs.c.among_agents).label("rings"),
)
_STILL = sa.select(runs.c.id).where(
    runs.c.id.in_(sa.bindparam("runs", expanding=True)),
    runs.c.status == "running",
    runs.c.lease_owner == sa.bindparam("owner"),
)


@dataclass(frozen=True, slots=True)
class Sight:
    # Somebody is owed something now, or a run waits to be taken up.
    work: bool
    # The clock has something to do now: plans, heartbeats, time-outs, rings.
    clock: bool
    # The next moment at which either may become true by itself.
    next_at: Millis | None


def look(tx: Tx) -> Sight:
    row = tx.execute(_LOOK).one()
    now = tx.now
    timed = [at for at in (row.deadline, row.plan, row.beat) if at is not None]
    work = row.queued or (row.owed is not None and row.owed <= now) or (row.lease is not None and row.lease < now)
    upcoming = [at for at in (*timed, row.owed) if at is not None and at > now]
    return Sight(work, row.rings or any(at <= now for at in timed), min(upcoming, default=None))


def still_ours(tx: Tx, owner: str, run_ids: list[str]) -> set[str]:
    """Those of our runs that nobody has ended or taken over."""
    return {row.id for row in tx.all(_STILL, {"owner": owner, "runs": run_ids})}
