"""Taking up what has begun already: runs whose wait is over, and runs of workers that have died."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from majlis.runs.claim.capacity import known_agents
from majlis.runs.claim.claimed import Claim, Claimed
from majlis.runs.claim.lease import LEASE_MILLIS, is_dead
from majlis.runs.end.settle import settle_deliveries
from majlis.runs.view.events import presence, run_event
from majlis.store.tables import runs
from majlis.store.tables.columns import word
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Tx

# A run that has brought down this many workers is not given to another one.
MAX_TAKE_OVERS = 5

_UNFINISHED = (
    sa.select(runs.c.id, runs.c.agent_id)
    .where(
        NOT_OVER,
        sa.or_(
            sa.and_(runs.c.status == word("queued"), runs.c.agent_id.not_in(sa.bindparam("full", expanding=True))),
            sa.and_(
                runs.c.status == word("running"),
                runs.c.id.not_in(sa.bindparam("held", expanding=True)),
                sa.or_(
                    runs.c.lease_until < sa.bindparam("now"),
                    runs.c.lease_owner.in_(sa.bindparam("dead", expanding=True)),
                ),
            ),
        ),
    )
    .order_by(runs.c.status, runs.c.id)
    .limit(sa.bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_TAKE_UP = (
    runs.update()
    .where(
        runs.c.id == sa.bindparam("run"),
        runs.c.status == sa.bindparam("was"),
        runs.c.fence == sa.bindparam("fence_was", type_=sa.BigInteger),
    )
    .values(
        status="running",
        lease_owner=sa.bindparam("owner"),
        lease_until=sa.bindparam("until"),
        fence=runs.c.fence + 1,
        attempts=runs.c.attempts + sa.bindparam("again", type_=sa.Integer),
    )
)
_ORPHANED = (
    runs.update()
    .where(runs.c.id == sa.bindparam("run"))
    .values(status="canceled", reason="its agent was deleted", ended_at=sa.bindparam("at"), lease_owner=None)
)


def dead_owners(tx: Tx) -> list[str]:
    """Workers of this machine that hold runs and are gone."""
    statement = sa.select(runs.c.lease_owner).where(NOT_OVER, runs.c.status == word("running"))
    return [row.lease_owner for row in tx.all(statement.distinct()) if is_dead(row.lease_owner)]


def take_up(tx: Tx, owner: str, claim: Claim, limit: int, dead: Collection[str], held: Collection[str]) -> bool:
    """Whether to look again: some agent had no room, and others may stand behind it in the queue."""
    given = {"now": tx.now, "dead": sorted(dead), "held": sorted(held), "full": sorted(claim.full), "limit": limit}
    found = tx.all(_UNFINISHED, given)
    if not found:
        return False
    full_before = len(claim.full)
    known = known_agents(tx, {row.agent_id for row in found})
    rows = tx.all(sa.select(runs).where(runs.c.id.in_([row.id for row in found])))
    room = {agent.id: agent.concurrent_runs - agent.running for agent in known.values()}
    for run in sorted(rows, key=lambda row: (row.status, row.id)):
        taken_over = run.status == "running"
        agent = known.get(run.agent_id)
        if agent is None:
            _end_orphan(tx, run.id)
        elif room[agent.id] < 1 and not taken_over:
            claim.full.add(agent.id)
        elif _take(tx, owner, run, taken_over):
            room[agent.id] -= 0 if taken_over else 1
            claim.claimed.append(_again(run, agent, taken_over))
            claim.events += run_event("run.resumed", run, **({"takenOver": True} if taken_over else _how(run.wait)))
            claim.events += presence("agent.active", run)
    return len(claim.full) > full_before


def _how(wait: dict[str, Any] | None) -> dict[str, Any]:
    """The wait's end for whoever watches; nothing of what was said."""
    outcome = (wait or {}).get("outcome") or {}
    return {name: outcome[name] for name in ("status", "reason") if name in outcome}


def _end_orphan(tx: Tx, run_id: str) -> None:
    tx.execute(_ORPHANED, {"run": run_id, "at": tx.now})
    settle_deliveries(tx, run_id, "passed")


def _take(tx: Tx, owner: str, run: sa.Row[Any], taken_over: bool) -> bool:
    values = {
        "run": run.id,
        "was": run.status,
        "fence_was": run.fence,
        "owner": owner,
        "until": tx.now + LEASE_MILLIS,
        "again": int(taken_over),
    }
    return tx.execute(_TAKE_UP, values).rowcount == 1


def _again(run: sa.Row[Any], agent: sa.Row[Any], taken_over: bool) -> Claimed:
    return Claimed(
        id=run.id,
        agent_id=run.agent_id,
        agent_name=agent.name,
        agent_version=agent.version,
        trigger=run.trigger,
        trigger_space_id=run.trigger_space_id,
        active_space_id=run.active_space_id,
        chain_depth=run.chain_depth,
        fence=run.fence + 1,
        attempts=run.attempts + int(taken_over),
        waits=run.waits,
        working_millis=run.working_millis,
        requests=run.requests,
        input_tokens=run.input_tokens,
        cached_tokens=run.cached_tokens,
        output_tokens=run.output_tokens,
        model=run.model,
        wait=run.wait,
        shown=run.shown or {},
        notes=run.notes or [],
        earlier=[*((run.shown or {}).get("earlier") or ()), run.id],
        cycle=run.cycle,
    )
