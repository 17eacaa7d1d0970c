"""Ending a run from outside: canceled by somebody, stopped or absorbed by its own agent. One winner, by one update.

The space is locked before the run, as in a post that resumes one: so the two cannot block each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from majlis.cards.close import spaces_asked_by, withdraw_cards_of_run
from majlis.entities.caller import Caller
from majlis.errors import Conflict, Forbidden, Invalid, NotFound
from majlis.live.log import Signal
from majlis.runs.calls.context import Acting
from majlis.runs.calls.visible import show_stopped
from majlis.runs.end.settle import settle_deliveries
from majlis.runs.journal import forget_secrets
from majlis.runs.loop.earlier_calls import load_actions, unknown_outcomes
from majlis.runs.view.events import announce, presence, run_event, spaces_of_run
from majlis.runs.view.queries import access_run, get_run
from majlis.runs.view.shapes import RunJson
from majlis.spaces.access import lock_spaces
from majlis.spaces.members import find_member
from majlis.store.tables import deliveries, runs
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Tx

ENDED = "runs.ended"


@dataclass(frozen=True, slots=True)
class RunEnded(Signal):
    """After commit: whoever works on this run stops at once."""

    subject: str = ENDED
    payload: bytes = b""


def cancel_run(tx: Tx, caller: Caller, run_id: str) -> RunJson:
    run = access_run(tx, caller, run_id)
    _require_say(tx, caller, run)
    if not _end(tx, run, "canceled", f"canceled by {caller.name}"[:64]):
        raise Conflict("run_ended", "This run has ended already.")
    return get_run(tx, caller, run_id)


def stop_own_run(tx: Tx, acting: Acting, run_id: str) -> None:
    run = _own_run(tx, acting, run_id)
    if not _end(tx, run, "canceled", f"stopped by {acting.run_id}"):
        raise Conflict("run_ended", f"Run {run_id} has ended already; there is nothing to stop.")


def absorb_own_run(tx: Tx, acting: Acting, run_id: str) -> dict[str, Any]:
    """The other run's trigger and what it did, also in tries that failed; what it was owed is this run's to settle now
    (J1), at the greater depth of the two: no chain begins anew by changing hands (T6)."""
    # Both rows in one order: two runs that absorb each other end with one winner, not with a deadlock.
    both = sa.select(runs).where(runs.c.id.in_((acting.run_id, run_id))).order_by(runs.c.id).with_for_update()
    lock_spaces(tx, spaces_of_run(_own_run(tx, acting, run_id)))
    # As it is now that nobody changes it any more.
    run = next(row for row in tx.all(both) if row.id == run_id)
    owed = deliveries.c.run_id == run_id, deliveries.c.state == "taken"
    tx.execute(deliveries.update().where(*owed).values(run_id=acting.run_id))
    if not _end(tx, run, "canceled", f"absorbed by {acting.run_id}", absorbed_by=acting.run_id):
        raise Conflict("run_ended", f"Run {run_id} has ended already; there is nothing to absorb.")
    acting.chain_depth = max(acting.chain_depth, run.chain_depth)
    tries = dict.fromkeys([*(run.shown or {}).get("earlier", ()), run_id])
    actions = [
        {"tool": each.name, "input": each.input, "output": each.output, "state": each.state}
        for each in load_actions(tx, list(tries))
    ]
    return {"trigger": run.trigger, "actions": actions}


def _end(tx: Tx, run: sa.Row[Any], status: str, reason: str, absorbed_by: str | None = None) -> bool:
    lock_spaces(tx, spaces_of_run(run).union(spaces_asked_by(tx, run.id)))
    ended = (
        runs.update()
        .where(runs.c.id == run.id, NOT_OVER)
        .values(
            status=status,
            reason=reason,
            ended_at=tx.now,
            lease_owner=None,
            wait_space_id=None,
            deadline=None,
            among_agents=False,
        )
        .returning(*runs.c)
    )
    # As it is now that it is over: while the locks were waited for, it may have gone to another space.
    over = tx.one(ended)
    if over is None:
        return False
    run = over
    settle_deliveries(tx, run.id, "passed")
    withdraw_cards_of_run(tx, run.id)
    forget_secrets(tx, run.id)
    if run.active_space_id is not None:
        for left in unknown_outcomes(tx, run.id):
            show_stopped(tx, run.active_space_id, run.agent_id, run.id, left.n)
    events = run_event("run.canceled", run, reason=reason)
    if absorbed_by is not None:
        events = run_event("run.absorbed", run, absorbedBy=absorbed_by)
    announce(tx, events + presence("agent.inactive", run))
    tx.outbox.append(RunEnded(payload=run.id.encode()))
    return True


def _own_run(tx: Tx, acting: Acting, run_id: str) -> sa.Row[Any]:
    if run_id == acting.run_id:
        raise Invalid("this_run", "This is the run you are in. To end it, stop calling tools.")
    run = tx.one(sa.select(runs).where(runs.c.id == run_id, runs.c.agent_id == acting.id))
    if run is None:
        raise NotFound("unknown_run", f"You have no run {run_id}. Call get_my_runs for the ids of yours.")
    return run


def _require_say(tx: Tx, caller: Caller, run: sa.Row[Any]) -> None:
    """A viewer of the space may look at its runs, not end them."""
    if caller.id == run.agent_id or run.trigger_space_id is None:
        return
    member = find_member(tx, run.trigger_space_id, caller.id)
    if member is not None and member.role == "viewer" and not caller.administers:
        raise Forbidden("viewer", "You are a viewer in this space: you may read, not stop its agents.")
