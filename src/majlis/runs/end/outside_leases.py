"""Leases of programs that work for outside agents (D2). When one ends, its run goes back to the queue and is offered
again, as often as the agent's `limits.attempts` say. While the agent is paused, no attempt is counted (E7)."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.inbox.pause import RUN_PAUSED
from majlis.runs.claim.outside_agents import LEASE_OVER
from majlis.runs.end.settle import fail, hand_back
from majlis.runs.run import Run, spaces_of_run
from majlis.spaces.access import lock_spaces
from majlis.spaces.acts_for import has_token
from majlis.store.tables import agents, entities, runs
from majlis.store.transactions import Tx

_ENDED = sa.select(runs).where(LEASE_OVER).order_by(runs.c.id).limit(sa.bindparam("limit"))
_STILL = (
    sa.select(runs.c.id, RUN_PAUSED.label("paused"))
    .where(runs.c.id == sa.bindparam("run"), runs.c.fence == sa.bindparam("fence", type_=sa.BigInteger), LEASE_OVER)
    .with_for_update(of=runs)
)
_COUNT = runs.update().where(runs.c.id == sa.bindparam("run")).values(attempts=runs.c.attempts + 1)
AGENT = (
    sa.select(
        agents.c.id,
        agents.c.version,
        agents.c.config,
        agents.c.outside,
        agents.c.context_limit,
        entities.c.name,
        has_token(sa.bindparam("now", type_=sa.BigInteger)).label("has_token"),
        sa.func.coalesce(agents.c.config["limits"]["attempts"].as_integer(), 1).label("attempts"),
    )
    .join(entities, entities.c.id == agents.c.id)
    .where(agents.c.id == sa.bindparam("agent"))
)


def expire_leases(tx: Tx, limit: int) -> bool:
    """True if there may be more. Lock order: the spaces, then the runs, as in every transaction that touches both."""
    found = tx.all(_ENDED, {"now": tx.now, "limit": limit})
    lock_spaces(tx, sorted({space for row in found for space in spaces_of_run(row)}))
    for row in found:
        # It may have been renewed or settled meanwhile.
        still = tx.one(_STILL, {"run": row.id, "fence": row.fence, "now": tx.now})
        if still is not None:
            _expire(tx, row, still.paused)
    return len(found) == limit


def _expire(tx: Tx, row: sa.Row[Any], paused: bool) -> None:
    agent = tx.execute(AGENT, {"agent": row.agent_id, "now": tx.now}).one()
    run = Run.from_row(row, agent)
    if not paused and row.attempts >= agent.attempts:
        fail(tx, run, [], "lease_ended", "Each program that took this event let its lease end.", 0)
        return
    hand_back(tx, run)
    if not paused:
        tx.execute(_COUNT, {"run": run.id})
