"""One cheap query: is there work, and when will there be? Asked at least every second, so that a lost wake-up costs at
most a second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from majlis.clock import Millis
from majlis.inbox.pause import RUN_PAUSED
from majlis.runs.claim.deaths import ALONE, SUSPECT_DEATHS
from majlis.runs.claim.outside_agents import LEASE_OVER, OUTSIDE_AGENTS
from majlis.store.hot import among, hot
from majlis.store.tables import agents, asks, budgets, cards, deliveries, plans, runs
from majlis.store.tables.columns import word, words
from majlis.store.tables.runs import AMONG_AGENTS, NOT_OVER
from majlis.store.transactions import Tx


def _earliest(column: sa.Column[int], *conditions: sa.ColumnElement[bool]) -> sa.ScalarSelect[int]:
    """The first entry of the index, instead of `min` over all rows."""
    return sa.select(column).where(column.is_not(None), *conditions).order_by(column).limit(1).scalar_subquery()


_INSIDE = runs.c.agent_id.not_in(OUTSIDE_AGENTS)
_POLL = hot(
    sa.select(
        _earliest(
            deliveries.c.not_before, deliveries.c.state == word("pending"), deliveries.c.agent_id.not_in(OUTSIDE_AGENTS)
        ).label("pending"),
        sa.exists()
        .where(NOT_OVER, runs.c.status == word("queued"), runs.c.reason.is_distinct_from(word("budget")), _INSIDE)
        .label("queued"),
        sa.exists()
        .where(
            NOT_OVER,
            runs.c.status == word("queued"),
            runs.c.reason.is_distinct_from(word("budget")),
            runs.c.deaths >= SUSPECT_DEATHS,
            ~RUN_PAUSED,
        )
        .label("suspects"),
        sa.exists(sa.select(budgets.c.scope)).label("budgets"),
        _earliest(runs.c.lease_until, NOT_OVER, runs.c.status == word("running"), _INSIDE).label("lease"),
        _earliest(runs.c.deadline).label("deadline"),
        _earliest(cards.c.deadline, cards.c.state == word("open")).label("card"),
        _earliest(asks.c.deadline, asks.c.state == word("open")).label("ask"),
        _earliest(plans.c.next_at).label("plan"),
        _earliest(agents.c.heartbeat_at).label("beat"),
        sa.exists().where(runs.c.status == word("waiting_reply"), AMONG_AGENTS).label("deadlocks"),
        sa.exists()
        .where(NOT_OVER, runs.c.status == word("running"), runs.c.lease_owner != sa.bindparam("owner"), _INSIDE)
        .label("others"),
        sa.exists().where(LEASE_OVER).label("leases"),
    )
)
_OURS = hot(
    sa.select(runs.c.id, runs.c.status, runs.c.fence, RUN_PAUSED.label("paused")).where(among(runs.c.id, "runs"))
)


@dataclass(frozen=True, slots=True)
class Poll:
    # A delivery is due, or a run can be resumed or taken over.
    work: bool
    # Due now: plans, heartbeats, timeouts, possible deadlocks.
    clock: bool
    # The next time at which either may become true.
    next_at: Millis | None
    # Other workers have runs, and may have died.
    others: bool
    # A run waits that has to be tried alone.
    suspects: bool
    # There are budgets in the database.
    budgets: bool
    # A program that works for an outside agent has lost its lease.
    leases: bool


def poll(tx: Tx, owner: str) -> Poll:
    row = tx.execute(_POLL, {"owner": owner, "now": tx.now}).one()
    now = tx.now
    timed = [at for at in (row.deadline, row.card, row.ask, row.plan, row.beat) if at is not None]
    work = row.queued or (row.pending is not None and row.pending <= now) or (row.lease is not None and row.lease < now)
    upcoming = [at for at in (*timed, row.pending) if at is not None and at > now]
    clock = row.deadlocks or any(at <= now for at in timed)
    suspects = row.suspects or (row.pending is not None and row.pending == ALONE)
    return Poll(work, clock, min(upcoming, default=None), row.others, suspects, row.budgets, row.leases)


def lost(tx: Tx, fences: Mapping[str, int]) -> tuple[set[str], set[str]]:
    """Our runs that were canceled or taken over, and those that are paused. A run that has just ended, or waits, still
    has our fence."""
    found = tx.all(_OURS, {"runs": list(fences)})
    gone = {row.id for row in found if row.status == "canceled" or row.fence != fences[row.id]}
    return gone, {row.id for row in found if row.status == "running" and row.paused} - gone


def count_open(tx: Tx) -> tuple[int, int]:
    """How many deliveries are pending, and how many runs wait."""
    pending = sa.select(sa.func.count()).where(deliveries.c.state == word("pending")).scalar_subquery()
    waiting = sa.select(sa.func.count()).where(NOT_OVER, runs.c.status.in_(words("waiting_reply", "waiting_tool")))
    row = tx.execute(sa.select(pending.label("pending"), waiting.scalar_subquery().label("waiting"))).one()
    return row.pending, row.waiting
