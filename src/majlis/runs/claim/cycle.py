"""Starts a cycle of a consciousness: all its pending deliveries become one run, one such run at a time (K2).

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
from majlis.runs.claim.arrivals import Arrival, earlier_runs, lock_arrivals, take_arrivals
from majlis.runs.claim.capacity import ClaimedRuns
from majlis.runs.run import Run
from majlis.store import ids
from majlis.store.tables import agents, runs
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Dialect, Tx

# Failed tries whose calls are shown to the next, as for other runs.
_MOST_EARLIER = 10

_UNDER_WAY = sa.select(runs.c.id).where(runs.c.agent_id == sa.bindparam("agent"), runs.c.cycle, NOT_OVER)
_INSERT: dict[Dialect, Any] = {
    "sqlite": sqlite.insert(runs).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(runs).on_conflict_do_nothing(),
}
_STANDS = sa.select(agents.c.active_space_id).where(agents.c.id == sa.bindparam("agent"))
_STOOD = sa.select(runs.c.active_space_id).where(runs.c.id == sa.bindparam("run"), runs.c.cycle)


def start_cycle(tx: Tx, owner: str, agent: sa.Row[Any], claimed: ClaimedRuns) -> None:
    """`agent` comes from `known_agents`, its row locked."""
    # Until this cycle or the one in progress ends, there is nothing more to take for the agent.
    claimed.full.add(agent.id)
    if tx.one(_UNDER_WAY, {"agent": agent.id}) is not None:
        return
    arrived = lock_arrivals(tx, agent.id, wait=False)
    if not arrived:
        return
    run = _new_cycle(tx, agent, arrived)
    # Not `tx.now`: this transaction may have waited for the one that ended the previous cycle.
    row = {**run.new_row(tx, owner), "started_at": clock.now()}
    if tx.execute(_INSERT[tx.dialect], row).rowcount == 0:
        return
    take_arrivals(tx, run.id, arrived)
    claimed.add(run, "run.started")


def _new_cycle(tx: Tx, agent: sa.Row[Any], arrived: Sequence[Arrival]) -> Run:
    trigger = cycle_trigger([each.event for each in arrived])
    earlier = earlier_runs(arrived)[-_MOST_EARLIER:]
    return Run(
        id=ids.new("run"),
        agent_id=agent.id,
        agent_name=agent.name,
        agent_version=agent.version,
        trigger=trigger,
        trigger_space_id=trigger.get("spaceId"),
        active_space_id=_active_space(tx, agent.id, earlier),
        chain_depth=trigger["chainDepth"],
        earlier=earlier,
        due_at=min(max(each.delivery.created_at, each.delivery.not_before) for each in arrived),
        cycle=True,
    )


def _active_space(tx: Tx, agent_id: str, earlier: Sequence[str]) -> str | None:
    """Where its last cycle left it (A5). After a failed try, where that try went: the model is shown that it entered
    that space, and must not post elsewhere."""
    stood = tx.one(_STOOD, {"run": earlier[-1]}) if earlier else None
    found: str | None = stood.active_space_id if stood else tx.execute(_STANDS, {"agent": agent_id}).scalar_one()
    return found
