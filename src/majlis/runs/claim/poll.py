"""One cheap look at the ledger: is there anything to do, and when will there be? Asked every second at the latest, so
that a lost wake-up costs a second and no more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from majlis.clock import Millis
from majlis.store.tables import agents, cards, deliveries, plans, runs
from majlis.store.tables.columns import word, words
from majlis.store.tables.runs import AMONG_AGENTS, NOT_OVER
from majlis.store.transactions import Tx


def _earliest(column: sa.Column[int], *conditions: sa.ColumnElement[bool]) -> sa.ScalarSelect[int]:
    """The first of an index, not the least of all."""
    return sa.select(column).where(column.is_not(None), *conditions).order_by(column).limit(1).scalar_subquery()


_LOOK = sa.select(
    _earliest(deliveries.c.not_before, deliveries.c.state == word("pending")).label("owed"),
    sa.exists().where(NOT_OVER, runs.c.status == word("queued")).label("queued"),
    _earliest(runs.c.lease_until, NOT_OVER, runs.c.status == word("running")).label("lease"),
    _earliest(runs.c.deadline).label("deadline"),
    _earliest(cards.c.deadline, cards.c.state == word("open")).label("card"),
    _earliest(plans.c.next_at).label("plan"),
    _earliest(agents.c.heartbeat_at).label("beat"),
    sa.exists().where(runs.c.status == word("waiting_reply"), AMONG_AGENTS).label("rings"),
    sa.exists()
    .where(NOT_OVER, runs.c.status == word("running"), runs.c.lease_owner != sa.bindparam("owner"))
    .label("others"),
)
_OURS = sa.select(runs.c.id, runs.c.status, runs.c.fence).where(runs.c.id.in_(sa.bindparam("runs", expanding=True)))


@dataclass(frozen=True, slots=True)
class Sight:
    # Somebody is owed something now, or a run waits to be taken up.
    work: bool
    # The clock has something to do now: plans, heartbeats, time-outs, rings.
    clock: bool
    # The next moment at which either may become true by itself.
    next_at: Millis | None
    # Other workers have runs: they may have died.
    others: bool


def look(tx: Tx, owner: str) -> Sight:
    row = tx.execute(_LOOK, {"owner": owner}).one()
    now = tx.now
    timed = [at for at in (row.deadline, row.card, row.plan, row.beat) if at is not None]
    work = row.queued or (row.owed is not None and row.owed <= now) or (row.lease is not None and row.lease < now)
    upcoming = [at for at in (*timed, row.owed) if at is not None and at > now]
    clock = row.rings or any(at <= now for at in timed)
    return Sight(work, clock, min(upcoming, default=None), row.others)


def lost(tx: Tx, fences: Mapping[str, int]) -> set[str]:
    """Those of our runs that somebody else has ended or taken over, whatever became of them since. One that has just
    ended by itself, or waits, is not lost: its fence is still ours."""
    found = tx.all(_OURS, {"runs": list(fences)})
    return {row.id for row in found if row.status == "canceled" or row.fence != fences[row.id]}


def count_open(tx: Tx) -> tuple[int, int]:
    """How many events are owed and not taken, and how many runs wait."""
    owed = sa.select(sa.func.count()).where(deliveries.c.state == word("pending")).scalar_subquery()
    waiting = sa.select(sa.func.count()).where(NOT_OVER, runs.c.status.in_(words("waiting_reply", "waiting_tool")))
    row = tx.execute(sa.select(owed.label("owed"), waiting.scalar_subquery().label("waiting"))).one()
    return row.owed, row.waiting
