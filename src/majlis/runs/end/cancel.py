"""Ends a run from outside: canceled by a member, stopped or absorbed by its own agent. One conditional update decides.

The space is locked before the run, as in a post that resumes one, so the two cannot deadlock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from majlis.cards.close import spaces_asked_by, withdraw_cards_of_run
from majlis.entities.caller import Caller
from majlis.errors import Conflict, Forbidden, Invalid, NotFound
from majlis.live.log import Signal
from majlis.runs.calls.visible import show_stopped
from majlis.runs.end.settle import settle_deliveries
from majlis.runs.journal import forget_secrets
from majlis.runs.loop.earlier_calls import load_actions, unknown_outcomes
from majlis.runs.run import Run, announce, presence, run_event, spaces_of_run
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
    """Sent after commit: the run's worker stops it at once."""

    subject: str = ENDED
    payload: bytes = b""


def cancel_run(tx: Tx, caller: Caller, run_id: str) -> RunJson:
    run = access_run(tx, caller, run_id)
    _require_say(tx, caller, run)
    if not _end(tx, run, "canceled", f"canceled by {caller.name}"[:64]):
        raise Conflict("run_ended", "This run has already ended.")
    return get_run(tx, caller, run_id)


def stop_own_run(tx: Tx, run: Run, other_id: str) -> None:
    other = _own_run(tx, run, other_id)
    if not _end(tx, other, "canceled", f"stopped by {run.id}"):
        raise Conflict("run_ended", f"Run {other_id} has already ended. There is nothing to stop.")


def absorb_own_run(tx: Tx, run: Run, other_id: str) -> dict[str, Any]:
    """Returns the other run's trigger and what it did, including its failed tries. Its deliveries are this run's to
    settle now (J1), at the greater depth of the two (T6)."""
    # Both rows in one order, so that two runs that absorb each other do not deadlock.
    both = sa.select(runs).where(runs.c.id.in_((run.id, other_id))).order_by(runs.c.id).with_for_update()
    lock_spaces(tx, spaces_of_run(_own_run(tx, run, other_id)))
    # Read under the lock.
    other = next(row for row in tx.all(both) if row.id == other_id)
    taken = deliveries.c.run_id == other_id, deliveries.c.state == "taken"
    tx.execute(deliveries.update().where(*taken).values(run_id=run.id))
    if not _end(tx, other, "canceled", f"absorbed by {run.id}", absorbed_by=run.id):
        raise Conflict("run_ended", f"Run {other_id} has already ended. There is nothing to absorb.")
    run.chain_depth = max(run.chain_depth, other.chain_depth)
    tries = dict.fromkeys([*(other.shown or {}).get("earlier", ()), other_id])
    actions = [
        {"tool": each.name, "input": each.input, "output": each.output, "state": each.state}
        for each in load_actions(tx, list(tries))
    ]
    return {"trigger": other.trigger, "actions": actions}


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
    # The row as it ended: it may have entered another space while this waited for the locks.
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


def _own_run(tx: Tx, run: Run, other_id: str) -> sa.Row[Any]:
    if other_id == run.id:
        raise Invalid("this_run", "This is the run you are in. To end it, stop calling tools.")
    other = tx.one(sa.select(runs).where(runs.c.id == other_id, runs.c.agent_id == run.agent_id))
    if other is None:
        raise NotFound("unknown_run", f"You have no run {other_id}. Call get_my_runs to get the ids of your runs.")
    return other


def _require_say(tx: Tx, caller: Caller, run: sa.Row[Any]) -> None:
    """A viewer of the space may see its runs, but not cancel them."""
    if caller.id == run.agent_id or run.trigger_space_id is None:
        return
    member = find_member(tx, run.trigger_space_id, caller.id)
    if member is not None and member.role == "viewer" and not caller.administers:
        raise Forbidden("viewer", "You are a viewer in this space and cannot stop its agents.")
