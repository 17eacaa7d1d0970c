"""Starts a cycle of a consciousness: its pending deliveries become one run, one such run at a time (K2). A cycle takes
only as many as its limits let it handle; the rest is for the next one.

The unique index `uq_runs_cycle` enforces it: of two workers that start a cycle at once, one inserts the run and the
other nothing. Events that arrive meanwhile stay pending for the next cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis import clock
from majlis.inbox.build_trigger import cycle_trigger
from majlis.runs.claim.arrivals import Arrival, affordable, earlier_runs, lock_arrivals, take_arrivals
from majlis.runs.claim.capacity import ClaimedRuns
from majlis.runs.claim.deaths import ALONE, SUSPECT_DEATHS
from majlis.runs.claim.runs_per_cause import without_spent_cause
from majlis.runs.run import Run
from majlis.store import ids
from majlis.store.hot import hot
from majlis.store.tables import agents, cycles, runs
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Dialect, Tx

# Failed tries whose calls are shown to the next, as for other runs.
_MOST_EARLIER = 10

_UNDER_WAY = hot(sa.select(runs.c.id).where(runs.c.agent_id == sa.bindparam("agent"), runs.c.cycle, NOT_OVER))
_INSERT: dict[Dialect, Any] = {
    "sqlite": sqlite.insert(runs).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(runs).on_conflict_do_nothing(),
}
# A config that this version cannot read may lack the limits: its run fails with the reason.
_STANDS = hot(
    sa.select(
        agents.c.active_space_id,
        sa.func.coalesce(agents.c.config["limits"]["steps"].as_integer(), 1).label("steps"),
        sa.func.coalesce(agents.c.config["consciousness"]["maxTokens"].as_integer(), 0).label("max_tokens"),
    ).where(agents.c.id == sa.bindparam("agent"))
)
_NEWEST = (
    sa.select(cycles.c.run_id).where(cycles.c.agent_id == runs.c.agent_id).order_by(cycles.c.n.desc()).limit(1)
).scalar_subquery()
_STOOD = sa.select(runs.c.active_space_id).where(
    runs.c.id == sa.bindparam("run"), runs.c.cycle, sa.func.coalesce(_NEWEST, "") < runs.c.id
)


def start_cycle(tx: Tx, owner: str, agent: sa.Row[Any], claimed: ClaimedRuns) -> None:
    """`agent` comes from `known_agents`, its row locked."""
    # Until this cycle or the one in progress ends, there is nothing more to take for the agent.
    claimed.full.add(agent.id)
    if tx.one(_UNDER_WAY, {"agent": agent.id}) is not None:
        return
    arrived, refused = without_spent_cause(tx, lock_arrivals(tx, agent.id, wait=False))
    claimed.refused += refused
    if not arrived:
        return
    lone = [each for each in arrived if each.delivery.not_before == ALONE]
    if lone and not claimed.may_isolate():
        return
    stands = tx.execute(_STANDS, {"agent": agent.id}).one()
    # An event takes at least one request.
    arrived = lone[:1] or affordable(arrived, stands.steps, stands.max_tokens)
    run = _new_cycle(tx, agent, arrived, stands.active_space_id)
    # Not `tx.now`: this transaction may have waited for the one that ended the previous cycle.
    row = {**run.new_row(tx, owner), "started_at": clock.now()}
    if tx.execute(_INSERT[tx.dialect], row).rowcount == 0:
        return
    take_arrivals(tx, run.id, arrived)
    claimed.add(run, "run.started")


def _new_cycle(tx: Tx, agent: sa.Row[Any], arrived: Sequence[Arrival], stands: str | None) -> Run:
    trigger = cycle_trigger([each.event for each in arrived])
    earlier = earlier_runs(arrived)[-_MOST_EARLIER:]
    run = Run(
        id=ids.new("run"),
        agent_id=agent.id,
        agent_name=agent.name,
        agent_version=agent.version,
        context_limit=agent.context_limit,
        trigger=trigger,
        trigger_space_id=trigger.get("spaceId"),
        active_space_id=_active_space(tx, earlier, stands),
        chain_depth=trigger["chainDepth"],
        # Those of its first event.
        cause_id=arrived[0].delivery.cause_id,
        person_id=arrived[0].delivery.person_id,
        earlier=earlier,
        due_at=min(max(each.delivery.created_at, each.delivery.not_before) for each in arrived),
        cycle=True,
        deaths=SUSPECT_DEATHS if arrived[0].delivery.not_before == ALONE else 0,
    )
    for each in arrived:
        run.was_told(each.delivery.space_id, each.delivery.seq)
    return run


def _active_space(tx: Tx, earlier: Sequence[str], stands: str | None) -> str | None:
    """The space in which its last cycle ended (A5). If a failed try at these events came after it, the space in which
    that try ended: the model is shown that it entered that space, and must not post elsewhere."""
    stood = tx.one(_STOOD, {"run": earlier[-1]}) if earlier else None
    found: str | None = stood.active_space_id if stood else stands
    return found
