"""A consciousness wakes: everything that is owed to it becomes one run, and there is one such run at a time (K2).

The database holds that (`uq_runs_cycle`): of two workers that wake an agent at once, one inserts the run and the other
inserts nothing. Whatever arrives meanwhile stays pending, and is the next cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis import clock
from majlis.inbox.trigger import EventJson, TriggerJson
from majlis.runs.claim.arrivals import Arrival, earlier_runs, lock_arrivals, take_arrivals
from majlis.runs.claim.claimed import Claim, Claimed, row_of
from majlis.runs.view.events import presence, run_event
from majlis.store import ids
from majlis.store.tables import agents, runs
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Dialect, Tx

# Failed tries whose doings are shown to the next: the same number as for other runs.
_MOST_EARLIER = 10
# What a run keeps of its events in all; the model is shown no more of them than its budget allows anyway.
_MOST_BYTES = 1024 * 1024

_UNDER_WAY = sa.select(runs.c.id).where(runs.c.agent_id == sa.bindparam("agent"), runs.c.cycle, NOT_OVER)
_INSERT: dict[Dialect, Any] = {
    "sqlite": sqlite.insert(runs).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(runs).on_conflict_do_nothing(),
}
_STANDS = sa.select(agents.c.active_space_id).where(agents.c.id == sa.bindparam("agent"))
_STOOD = sa.select(runs.c.active_space_id).where(runs.c.id == sa.bindparam("run"), runs.c.cycle)


def begin_cycle(tx: Tx, owner: str, agent: sa.Row[Any], claim: Claim) -> None:
    """`agent` as claims know it, its row locked."""
    # Whether it wakes now or is awake already: there is nothing more to take for it until that cycle ends.
    claim.full.add(agent.id)
    if tx.one(_UNDER_WAY, {"agent": agent.id}) is not None:
        return
    arrived = lock_arrivals(tx, agent.id, wait=False)
    if not arrived:
        return
    run = _new_cycle(tx, agent, arrived)
    # Not when this transaction began: it may have waited for the one that ended the cycle before.
    row = {**row_of(tx, owner, run), "started_at": clock.now()}
    if tx.execute(_INSERT[tx.dialect], row).rowcount == 0:
        return
    take_arrivals(tx, run.id, arrived)
    claim.claimed.append(run)
    claim.events += run_event("run.started", run) + presence("agent.active", run)


def with_events(trigger: TriggerJson, events: Sequence[EventJson]) -> TriggerJson:
    """A cycle's trigger after it has taken these, too."""
    return _trigger([*trigger.get("events", ()), *events])


def _new_cycle(tx: Tx, agent: sa.Row[Any], arrived: Sequence[Arrival]) -> Claimed:
    trigger = _trigger([each.event for each in arrived])
    earlier = earlier_runs(arrived)[-_MOST_EARLIER:]
    return Claimed(
        id=ids.new("run"),
        agent_id=agent.id,
        agent_name=agent.name,
        agent_version=agent.version,
        trigger=trigger,
        trigger_space_id=trigger.get("spaceId"),
        active_space_id=_where_it_stands(tx, agent.id, earlier),
        chain_depth=trigger["chainDepth"],
        fence=1,
        attempts=1,
        shown={"earlier": earlier} if earlier else {},
        earlier=earlier,
        owed_at=min(max(each.delivery.created_at, each.delivery.not_before) for each in arrived),
        cycle=True,
    )


def _trigger(events: Sequence[EventJson]) -> TriggerJson:
    kept = _bounded(events)
    # T6: the greatest depth of its events, so that no path resets a chain.
    trigger: TriggerJson = {**kept[0], "chainDepth": max(event["chainDepth"] for event in events), "events": kept}
    return trigger


def _where_it_stands(tx: Tx, agent_id: str, earlier: Sequence[str]) -> str | None:
    """Where its last cycle left it (A5); after a failed try, where that one had gone: the model is shown that it went
    there, and must not speak somewhere else."""
    stood = tx.one(_STOOD, {"run": earlier[-1]}) if earlier else None
    found: str | None = stood.active_space_id if stood else tx.execute(_STANDS, {"agent": agent_id}).scalar_one()
    return found


def _bounded(events: Sequence[EventJson]) -> list[EventJson]:
    """A thousand events of the greatest size are no row for a database. The messages themselves stay whole."""
    share = _MOST_BYTES // len(events)
    return [_cut(event, share) for event in events]


def _cut(event: EventJson, share: int) -> EventJson:
    if len(orjson.dumps(event)) <= share:
        return event
    shorter: EventJson = {**event}
    if "text" in event:
        shorter["text"] = f"{event['text'][: share // 4]}…"
    for name in ("payload", "result"):
        if name in event:
            shorter[name] = {"truncated": orjson.dumps(event[name]).decode()[: share // 4]}
    return shorter
