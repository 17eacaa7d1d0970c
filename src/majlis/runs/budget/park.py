"""Parks a run whose budget is spent, and releases parked runs when a budget is raised or a new day begins (E5).

A parked run is `queued` with the reason `budget`, which no worker claims. The messages behind it, in the same space and
for the same person, are `parked`; the run takes them along when it continues.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from majlis.inbox.build_trigger import build_triggers
from majlis.inbox.trigger_shapes import TriggerJson
from majlis.inbox.wake import QUEUED, WorkAvailable
from majlis.runs.budget.check import Budgets, Keys, SpentBudget, check_budgets
from majlis.runs.journal import Entry, update_fenced, write_entries
from majlis.runs.run import Run, announce, presence, run_event, spaces_of_run
from majlis.spaces.access import lock_spaces
from majlis.spaces.post import post_notice
from majlis.store.tables import deliveries, entities, runs
from majlis.store.tables.columns import word
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Tx

REASON = "budget"
PARKED = sa.and_(NOT_OVER, runs.c.status == word("queued"), runs.c.reason == word("budget"))

_PARK_BEHIND = (
    deliveries.update()
    .where(deliveries.c.id.in_(sa.bindparam("deliveries", expanding=True)), deliveries.c.state == word("pending"))
    .values(state="parked", run_id=sa.bindparam("run"))
)
# Locked, so that the run is not released while a delivery is parked behind it.
_PARKED_OF = (
    sa.select(runs.c.id, runs.c.agent_id, runs.c.trigger_space_id, runs.c.person_id)
    .where(runs.c.agent_id.in_(sa.bindparam("agents", expanding=True)), PARKED, runs.c.cycle.is_(sa.false()))
    .order_by(runs.c.id)
    .with_for_update(read=True, skip_locked=True)
)
_RELEASE = runs.update().where(PARKED).values(reason=None).returning(runs.c.id, runs.c.trigger)
_BEHIND = sa.and_(deliveries.c.run_id.in_(sa.bindparam("runs", expanding=True)), deliveries.c.state == word("parked"))
_PARKED_BEHIND = sa.select(deliveries).where(_BEHIND).order_by(deliveries.c.seq, deliveries.c.id)
_SET_TRIGGER = (
    runs.update().where(runs.c.id == sa.bindparam("run")).values(trigger=sa.bindparam("new", type_=runs.c.trigger.type))
)
_TAKE_ALONG = deliveries.update().where(_BEHIND).values(state="taken")
_LET_GO = deliveries.update().where(_BEHIND).values(state="pending", run_id=None)
_NAME = sa.select(entities.c.name).where(entities.c.id == sa.bindparam("id"))

# An agent's messages in a space for a person.
Lane = tuple[str, str | None, str | None]


def keys_of(run: Run) -> Keys:
    found = {
        "gateway": "",
        "space": run.trigger_space_id,
        "agent": run.agent_id,
        "person": run.person_id,
        "cause": run.cause_id,
    }
    return {scope: key for scope, key in found.items() if key is not None}  # type: ignore[misc]


def park(tx: Tx, run: Run, entries: list[Entry], budgets: Budgets) -> bool:
    """Returns False if a budget was raised meanwhile and the run can go on. Lock order: spaces, budgets, the run."""
    lock_spaces(tx, spaces_of_run(run))
    day = budgets.today()
    spent = check_budgets(tx, keys_of(run), day, budgets.usd_per_day, lock=True).spent
    if spent is None:
        return False
    about = {"scope": spent.scope, "budgetId": spent.id or None}
    announce(tx, run_event("budget.spent", run, **about) + presence("agent.inactive", run))
    if run.trigger_space_id is not None:
        once = f"budget:{spent.scope}:{spent.id}:{'' if spent.scope == 'cause' else day}"
        post_notice(tx, run.trigger_space_id, _notice(tx, run, spent), run.trigger.get("messageId"), once=once)
    write_entries(tx, run.id, entries)
    update_fenced(tx, run.id, run.fence, **run.columns(), status="queued", reason=REASON, lease_owner=None)
    return True


def parked_lanes(tx: Tx, agents: Iterable[str]) -> dict[Lane, str]:
    """The parked run of each lane. The newest, if there are several."""
    rows = tx.all(_PARKED_OF, {"agents": sorted(agents)})
    return {(row.agent_id, row.trigger_space_id, row.person_id): row.id for row in rows}


def park_behind(tx: Tx, run_id: str, delivery_ids: list[str]) -> None:
    tx.execute(_PARK_BEHIND, {"run": run_id, "deliveries": delivery_ids})


def release_parked(tx: Tx) -> int:
    """Releases all parked runs: a run whose budget is still spent is parked again before its next request."""
    released = {row.id: row.trigger for row in tx.all(_RELEASE)}
    if released:
        behind = tx.all(_PARKED_BEHIND, {"runs": list(released)})
        tx.execute(_TAKE_ALONG, {"runs": list(released)})
        _list_events(tx, released, behind)
        tx.outbox.append(WorkAvailable(payload=QUEUED))
    return len(released)


def _list_events(tx: Tx, released: dict[str, TriggerJson], behind: Sequence[sa.Row[Any]]) -> None:
    """A run's trigger lists all events that it has taken, if there are several."""
    triggers = build_triggers(tx, behind)
    for run_id in {row.run_id for row in behind}:
        trigger = released[run_id]
        events = trigger.get("events") or [trigger]
        more = [triggers[row.id] for row in behind if row.run_id == run_id and row.id in triggers]
        if more:
            tx.execute(_SET_TRIGGER, {"run": run_id, "new": {**trigger, "events": [*events, *more]}})


def let_go(tx: Tx, run_id: str) -> None:
    """Offers the messages behind a parked run that was canceled: they get a run of their own."""
    if tx.execute(_LET_GO, {"runs": [run_id]}).rowcount:
        tx.outbox.append(WorkAvailable())


def _notice(tx: Tx, run: Run, spent: SpentBudget) -> str:
    again = "when an admin raises it" if spent.scope == "cause" else "tomorrow, or when it is raised"
    return f"{run.agent_name} has stopped: {_whose(tx, spent)} is spent. It continues {again}."


def _whose(tx: Tx, spent: SpentBudget) -> str:
    match spent.scope:
        case "gateway":
            return "today's budget of the gateway"
        case "space":
            return "today's budget of this space"
        case "cause":
            return "the budget of this conversation"
    name: Any = tx.execute(_NAME, {"id": spent.id}).scalar_one_or_none()
    return f"today's budget of {name}"
