"""Ends a run from outside: canceled by a member, stopped or absorbed by its own agent. One conditional update decides.

The space is locked before the run, as in a post that resumes one, so the two cannot deadlock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa

from majlis.cards.close import spaces_asked_by, withdraw_cards_of_run
from majlis.entities.caller import Caller
from majlis.errors import Conflict, Forbidden, Invalid, NotFound
from majlis.inbox.gather import release
from majlis.live.log import Signal
from majlis.runs.budget.check import Charge, charge
from majlis.runs.budget.park import let_go
from majlis.runs.calls.visible import show_stopped
from majlis.runs.end.settle import settle_deliveries
from majlis.runs.journal import Fenced, forget_secrets
from majlis.runs.loop.earlier_calls import load_actions, unknown_outcomes
from majlis.runs.run import Run, announce, presence, run_event, spaces_of_run
from majlis.runs.view.queries import access_run, get_run
from majlis.runs.view.shapes import RunJson
from majlis.spaces.access import lock_spaces
from majlis.spaces.acts_for import run_of_person
from majlis.spaces.members import find_member
from majlis.spaces.post import Draft, store_message
from majlis.spaces.shapes import MessageJson, StopperJson
from majlis.store.tables import deliveries, messages, runs, steps
from majlis.store.tables.columns import word
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Tx
from majlis.waits.collect import wait_event
from majlis.waits.wait import Wait

ENDED = "runs.ended"
STOP = "runs.stop"
# The time in which a run's worker must stop it.
STOP_MILLIS = 1_000


@dataclass(frozen=True, slots=True)
class RunEnded(Signal):
    """Sent after commit: the run's worker stops it at once."""

    subject: str = ENDED
    payload: bytes = b""


@dataclass(frozen=True, slots=True)
class Words:
    """The part of a message that an agent has written so far."""

    stream_id: str
    space_id: str
    text: str


def ask_to_stop(tx: Tx, caller: Caller, run_id: str) -> bool:
    """Asks the run's worker to stop it and to keep what was written (L7). False if there is no worker to ask: the run
    is canceled at once."""
    run = access_run(tx, caller, run_id)
    _require_say(tx, caller, run)
    if caller.type != "human" or run.status != "running":
        return False
    not_asked = sa.or_(runs.c.stopping_at.is_(None), runs.c.stopping_at <= tx.now - STOP_MILLIS)
    asked = runs.update().where(runs.c.id == run_id, runs.c.status == "running", not_asked).values(stopping_at=tx.now)
    if tx.one(asked.returning(runs.c.id)) is None:
        raise Conflict("run_ended", "This run has already ended or is being stopped.")
    by: StopperJson = {"id": caller.id, "name": caller.name}
    tx.outbox.append(Signal(STOP, orjson.dumps({"runId": run_id, "by": by})))
    return True


def cancel_run(tx: Tx, caller: Caller, run_id: str, asked: bool = False) -> RunJson:
    """`asked`: its worker was asked to stop it, and may have done so."""
    run = access_run(tx, caller, run_id)
    _require_say(tx, caller, run)
    reason = _canceled_by(caller.name)
    stopped = asked and (run.status, run.reason) == ("canceled", reason)
    if not stopped and not _end(tx, run, "canceled", reason, by_member=True):
        raise Conflict("run_ended", "This run has already ended.")
    return get_run(tx, caller, run_id)


def stop(tx: Tx, run: Run, by: StopperJson, charges: Sequence[Charge], words: Words | None) -> MessageJson | None:
    """Called by the run's own worker when a person stops the run: posts the words written so far, which wake no agent
    and answer no wait, and ends the run."""
    found = sa.select(runs).where(runs.c.id == run.id, runs.c.fence == run.fence, NOT_OVER)
    row = tx.one(found)
    if row is None:
        raise Fenced
    lock_spaces(tx, {*spaces_of_run(row), *spaces_asked_by(tx, run.id), *((words.space_id,) if words else ())})
    # Read under the lock: the message may have been sent in the same moment.
    row = tx.one(found.with_for_update())
    if row is None:
        raise Fenced
    message = None
    if words is not None and not _is_sent(tx, run.id, words.stream_id):
        draft = Draft(
            words.text,
            run_id=run.id,
            chain_depth=run.chain_depth + 1,
            caused_by=run.trigger.get("messageId"),
            cause=run.cause,
            on_behalf_of=run.person_in(words.space_id),
            stream_id=words.stream_id,
            stopped_by=by,
        )
        message = store_message(tx, run.caller, words.space_id, draft).message
    charge(tx, charges)
    _end(tx, row, "canceled", _canceled_by(by["name"]), by_member=True)
    return message


def _is_sent(tx: Tx, run_id: str, stream_id: str) -> bool:
    sent = (
        sa.select(messages.c.stream_id)
        .join(steps, messages.c.id == steps.c.output["messageId"].as_string())
        .where(steps.c.run_id == run_id, steps.c.name == word("send_message"))
    )
    return any(row.stream_id == stream_id for row in tx.all(sent))


def _canceled_by(name: str) -> str:
    return f"canceled by {name}"[:64]


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


def _end(
    tx: Tx, run: sa.Row[Any], status: str, reason: str, absorbed_by: str | None = None, by_member: bool = False
) -> bool:
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
    waited = Wait.model_validate(run.wait) if run.status == "waiting_reply" else None
    run = over
    settle_deliveries(tx, run.id, "passed", reason if by_member else None)
    let_go(tx, run.id)
    withdraw_cards_of_run(tx, run.id)
    forget_secrets(tx, run.id)
    if run.active_space_id is not None:
        for left in unknown_outcomes(tx, run.id):
            show_stopped(tx, run.active_space_id, run.agent_id, run.id, left.n)
    events = run_event("run.canceled", run, reason=reason)
    if absorbed_by is not None:
        events = run_event("run.absorbed", run, absorbedBy=absorbed_by)
    if waited is not None:
        event = wait_event(run.id, run.agent_id, waited, is_open=False)
        events.append((waited.space_id, "wait.updated", event))
    announce(tx, events + presence("agent.inactive", run))
    release(tx, sorted(spaces_of_run(run)), run.cause_id, run.id)
    tx.outbox.append(RunEnded(payload=run.id.encode()))
    return True


def _own_run(tx: Tx, run: Run, other_id: str) -> sa.Row[Any]:
    if other_id == run.id:
        raise Invalid("this_run", "This is the run you are in. To end it, stop calling tools.")
    wanted = sa.select(runs).where(runs.c.id == other_id, runs.c.agent_id == run.agent_id)
    if run.limited_to is not None:
        wanted = wanted.where(run_of_person(run.limited_to))
    other = tx.one(wanted)
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
