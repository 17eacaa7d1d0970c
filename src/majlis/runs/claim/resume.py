"""Resumes runs whose wait is over, and takes over runs of dead workers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa

from majlis.inbox.pause import RUN_PAUSED
from majlis.inbox.wake import WorkAvailable
from majlis.runs.claim.bursts import take_burst
from majlis.runs.claim.capacity import ClaimedRuns, free_runs, known_agents
from majlis.runs.claim.deaths import count_deaths, is_suspect
from majlis.runs.claim.lease import is_dead, lease_millis
from majlis.runs.claim.outside_agents import OUTSIDE_AGENTS
from majlis.runs.end.settle import settle_deliveries
from majlis.runs.run import Run
from majlis.store.hot import among, hot, not_among
from majlis.store.tables import runs
from majlis.store.tables.columns import word
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Tx
from majlis.waits.collect import wait_event

_UNFINISHED = hot(
    sa.select(runs.c.id, runs.c.agent_id)
    .where(
        NOT_OVER,
        ~RUN_PAUSED,
        runs.c.agent_id.not_in(OUTSIDE_AGENTS),
        sa.or_(
            sa.and_(
                runs.c.status == word("queued"),
                runs.c.reason.is_distinct_from(word("budget")),
                not_among(runs.c.agent_id, "full"),
            ),
            sa.and_(
                runs.c.status == word("running"),
                not_among(runs.c.id, "held"),
                sa.or_(runs.c.lease_until < sa.bindparam("now"), among(runs.c.lease_owner, "dead")),
            ),
        ),
    )
    .order_by(runs.c.status, runs.c.id)
    .limit(sa.bindparam("limit"))
    .with_for_update(skip_locked=True)
)
# `end/outside_leases.py` ends its leases.
_RESUMED_OUTSIDE = (
    sa.select(runs.c.id, runs.c.agent_id)
    .where(
        runs.c.agent_id == sa.bindparam("agent"),
        NOT_OVER,
        ~RUN_PAUSED,
        runs.c.status == word("queued"),
        runs.c.reason.is_distinct_from(word("budget")),
    )
    .order_by(runs.c.id)
    .limit(sa.bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_TAKE = hot(
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
        deaths=sa.bindparam("died"),
        finished_calls=sa.bindparam("finished"),
    )
)
# A run that must be tried alone waits in the queue for a worker that has nothing else.
_PUT_BACK = (
    runs.update()
    .where(runs.c.id == sa.bindparam("run"))
    .values(
        status="queued",
        lease_owner=None,
        fence=runs.c.fence + 1,
        attempts=runs.c.attempts + 1,
        deaths=sa.bindparam("died"),
        finished_calls=sa.bindparam("finished"),
    )
)
_ORPHANED = (
    runs.update()
    .where(runs.c.id == sa.bindparam("run"))
    .values(status="canceled", reason="its agent was deleted", ended_at=sa.bindparam("at"), lease_owner=None)
)
_OWNERS = hot(sa.select(runs.c.lease_owner).where(NOT_OVER, runs.c.status == word("running")).distinct())


def dead_owners(tx: Tx) -> list[str]:
    """Workers on this machine that hold runs and have died."""
    return [row.lease_owner for row in tx.all(_OWNERS) if is_dead(row.lease_owner)]


def resume_runs(
    tx: Tx, owner: str, claimed: ClaimedRuns, limit: int, dead: Collection[str], held: Collection[str]
) -> bool:
    """True if it should be called again: some agent was full, and runs of others may be behind it in the queue."""
    if claimed.outside is not None:
        full = claimed.outside in claimed.full
        found = () if full else tx.all(_RESUMED_OUTSIDE, {"agent": claimed.outside, "limit": limit})
        return bool(found) and _resume(tx, owner, claimed, found)
    given = {"now": tx.now, "dead": sorted(dead), "held": sorted(held), "full": sorted(claimed.full), "limit": limit}
    found = tx.all(_UNFINISHED, given)
    return bool(found) and _resume(tx, owner, claimed, found)


def _resume(tx: Tx, owner: str, claimed: ClaimedRuns, found: Sequence[sa.Row[Any]]) -> bool:
    full_before = len(claimed.full)
    known = known_agents(tx, {row.agent_id for row in found})
    rows = tx.all(sa.select(runs).where(runs.c.id.in_([row.id for row in found])))
    room = free_runs(known)
    deaths = {row.id: count_deaths(tx, row, row.status == "running") for row in rows}
    for run in sorted(rows, key=lambda row: (not is_suspect(deaths[row.id][0]), row.status, row.id)):
        taken_over = run.status == "running"
        agent = known.get(run.agent_id)
        died, finished = deaths[run.id]
        if agent is None:
            _end_orphan(tx, run.id)
        elif claimed.closed or (is_suspect(died) and not claimed.may_isolate()):
            if taken_over and is_suspect(died):
                tx.execute(_PUT_BACK, {"run": run.id, "died": died, "finished": finished})
        elif room[agent.id] < 1 and not taken_over:
            claimed.full.add(agent.id)
        elif _take(tx, owner, run, taken_over, died, finished):
            room[agent.id] -= 0 if taken_over else 1
            resumed = Run.from_row(run, agent)
            resumed.fence += 1
            resumed.attempts += int(taken_over)
            if not taken_over:
                _end_wait(tx, resumed, claimed)
            resumed.deaths = died
            claimed.add(resumed, "run.resumed", **({"takenOver": True} if taken_over else _outcome(resumed)))
    return len(claimed.full) > full_before and not claimed.closed


def _end_wait(tx: Tx, run: Run, claimed: ClaimedRuns) -> None:
    """Takes the answers that arrived since. Other messages in that space were left until now (W7)."""
    take_burst(tx, run)
    if run.wait is not None and run.wait.tool_call_id is None:
        outcome = run.wait.outcome
        event = wait_event(run.id, run.agent_id, run.wait, outcome.answers or () if outcome else (), is_open=False)
        claimed.events.append((run.wait.space_id, "wait.updated", event))
    tx.outbox.append(WorkAvailable())


def _outcome(run: Run) -> dict[str, Any]:
    """How the wait ended, without what was said."""
    outcome = run.wait.outcome if run.wait is not None else None
    if outcome is None:
        return {}
    return {"status": outcome.status, **({"reason": outcome.reason} if outcome.reason is not None else {})}


def _end_orphan(tx: Tx, run_id: str) -> None:
    tx.execute(_ORPHANED, {"run": run_id, "at": tx.now})
    settle_deliveries(tx, run_id, "passed")


def _take(tx: Tx, owner: str, run: sa.Row[Any], taken_over: bool, died: int, finished: int) -> bool:
    values = {
        "run": run.id,
        "was": run.status,
        "fence_was": run.fence,
        "owner": owner,
        "until": tx.now + lease_millis(owner),
        "again": int(taken_over),
        "died": died,
        "finished": finished,
    }
    return tx.execute(_TAKE, values).rowcount == 1
