"""How a run ends: status, cursors, deliveries and events in one transaction. Its deliveries are settled, or retried.

Lock order: the space first (with the event), the run's row last (`update_fenced`), as in every transaction that touches
both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from majlis.inbox.deliver import turn_of_event
from majlis.inbox.external_sessions import keep_session
from majlis.inbox.gather import ask_to_release, release
from majlis.inbox.retry import back_off, offer_again
from majlis.inbox.standby import settle_standby
from majlis.inbox.turns import settled_in_turn
from majlis.inbox.wake import QUEUED, WorkAvailable
from majlis.minds.consciousness.remember import Lived
from majlis.runs.budget.check import Charge, charge
from majlis.runs.calls.visible import show_stopped
from majlis.runs.end.cycle_end import append_cycle, offer_events_again, offer_one_by_one, offer_unreached
from majlis.runs.end.unsent import tell_asker
from majlis.runs.journal import Entry, forget_secrets, update_fenced, write_entries
from majlis.runs.loop.earlier_calls import unknown_outcomes
from majlis.runs.run import Run, announce, presence, run_event, spaces_of_run
from majlis.spaces.access import lock_spaces
from majlis.spaces.post import post_notice
from majlis.store.hot import hot
from majlis.store.tables import deliveries, members, runs
from majlis.store.tables.columns import word
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Tx

_MOVE_CURSOR = hot(
    members.update()
    .where(
        members.c.space_id == sa.bindparam("space"),
        members.c.entity_id == sa.bindparam("agent"),
        sa.or_(members.c.processed_seq.is_(None), members.c.processed_seq < sa.bindparam("seq", type_=sa.BigInteger)),
    )
    .values(processed_seq=sa.bindparam("seq", type_=sa.BigInteger))
)
_others = deliveries.alias("others")
_SETTLE = hot(
    deliveries.update()
    .where(deliveries.c.run_id == sa.bindparam("run"), deliveries.c.state == word("taken"))
    .values(state=sa.bindparam("outcome"))
    .returning(
        deliveries.c.event_id,
        deliveries.c.message_id,
        deliveries.c.agent_id,
        deliveries.c.elected_id,
        sa.or_(
            sa.exists().where(_others.c.agent_id == deliveries.c.agent_id, _others.c.state == word("pending")),
            sa.exists().where(runs.c.agent_id == deliveries.c.agent_id, NOT_OVER, runs.c.status == word("queued")),
        ).label("more"),
    )
)
_SHOWN = sa.select(runs.c.shown).where(runs.c.id.in_(sa.bindparam("runs", expanding=True)))
_TAKEN = (
    sa.select(
        deliveries.c.id,
        deliveries.c.attempts,
        deliveries.c.payload,
        deliveries.c.space_id,
        deliveries.c.message_id,
        deliveries.c.agent_id,
        deliveries.c.elected_id,
    )
    .where(deliveries.c.run_id == sa.bindparam("run"), deliveries.c.state == word("taken"))
    .order_by(deliveries.c.id)
)


def complete(
    tx: Tx,
    run: Run,
    entries: list[Entry],
    reason: str | None = None,
    lived: Lived | None = None,
    outcome: str | None = None,
) -> None:
    """`outcome` is the state of its deliveries; without it, whether the run has sent a message decides. A cycle that
    was `lived` is appended to its agent's consciousness first: the agent's row is locked before any space, as in a
    claim."""
    if lived is not None:
        append_cycle(tx, run.agent_id, run.id, run.active_space_id, lived)
    if reason == "limit":
        _show_interrupted(tx, run)
    elif run.earlier:
        # The run was resumed: a call left by a dead worker may not have been repeated.
        forget_secrets(tx, run.id)
    announce(tx, run_event("run.completed", run, reason=reason) + presence("agent.inactive", run))
    if run.unsent_step is not None:
        tell_asker(tx, run)
    release_gathering = ask_to_release(tx, sorted(spaces_of_run(run)), run.cause_id, run.id)
    wrote = _written(tx, run)
    if run.cycle and reason == "limit":
        offer_unreached(tx, run, wrote)
    outcome = outcome or ("done" if wrote else "passed")
    settled = tx.ask(_SETTLE, {"run": run.id, "outcome": outcome})
    release_gathering()
    more = _settled(tx, settled, outcome)
    for space_id, seq in run.cursors().items():
        tx.later(_MOVE_CURSOR, {"space": space_id, "agent": run.agent_id, "seq": seq})
    write_entries(tx, run.id, entries)
    if run.new_session:
        _keep_session(tx, run)
    update_fenced(
        tx, run.id, run.fence, **run.columns(), **_ended(tx, "completed"), reason=reason, unsent_step=run.unsent_step
    )
    if more:
        tx.outbox.append(WorkAvailable())


def _written(tx: Tx, run: Run) -> Counter[str]:
    """Messages by space, with those of failed tries at the same events: what they said is not said again."""
    wrote = Counter({space_id: len(seqs) for space_id, seqs in run.wrote.items() if seqs})
    others = [each for each in run.earlier if each != run.id]
    for row in tx.all(_SHOWN, {"runs": others}) if others else ():
        wrote.update({space_id: len(seqs) for space_id, seqs in (row.shown or {}).get("wrote", {}).items() if seqs})
    return wrote


def skip(tx: Tx, run: Run, entries: list[Entry], reason: str, unmade: Sequence[str]) -> None:
    """The cycle ends and leaves no trace (K6); only the run keeps the reason."""
    notes = [*run.notes, f"Skipped: {reason}", *(f"{name} was not called: the cycle was skipped." for name in unmade)]
    complete(tx, replace(run, notes=notes), entries, reason if len(reason) <= 64 else f"{reason[:63]}…")


def fail(tx: Tx, run: Run, entries: list[Entry], code: str, message: str, attempts: int, rest_millis: int = 0) -> None:
    """The run's deliveries are retried with back-off, up to `attempts` times in all (T12), and not before the delay
    that the provider asks for. After that they have failed, and the space shows a notice (J7). Cursors stay (C2)."""

    def delay_of(tries: int) -> int:
        return max(back_off(tries), rest_millis)

    _show_interrupted(tx, run)
    error = {"code": code, "message": message}
    announce(tx, run_event("run.failed", run, error=error) + presence("agent.inactive", run))
    release(tx, sorted(spaces_of_run(run)), run.cause_id, run.id)
    taken = tx.all(_TAKEN, {"run": run.id})
    if taken and run.cycle:
        given_up = offer_events_again(tx, run.id, taken, attempts, delay_of)
        _tell_spaces(tx, run, given_up)
    elif taken:
        trigger = next((each for each in taken if each.message_id == run.trigger.get("messageId")), taken[0])
        delay = delay_of(trigger.attempts) if trigger.attempts + 1 < attempts else None
        _retry_trigger(tx, run, trigger, delay)
    write_entries(tx, run.id, entries)
    update_fenced(tx, run.id, run.fence, **run.columns(), **_ended(tx, "failed"), error=error)
    tx.outbox.append(WorkAvailable())


def split(tx: Tx, run: Run, code: str, message: str) -> None:
    """Workers have died with this cycle, and one of its events may be the reason: each is tried alone (G1)."""
    error = {"code": code, "message": message}
    _show_interrupted(tx, run)
    announce(tx, run_event("run.failed", run, error=error) + presence("agent.inactive", run))
    offer_one_by_one(tx, run.id)
    update_fenced(tx, run.id, run.fence, **run.columns(), **_ended(tx, "failed"), error=error)
    tx.outbox.append(WorkAvailable())


def _retry_trigger(tx: Tx, run: Run, trigger: sa.Row[Any], delay: int | None) -> None:
    """The other deliveries of the run (answers, absorbed events) stay taken until the next try at its trigger takes
    them along. The next try keeps the chain depth (T6). Without a delay there is no next try."""
    offer_again(tx, trigger, run.id, None if delay is None else tx.now + delay, chainDepth=run.chain_depth)
    if delay is None:
        settle_deliveries(tx, run.id, "failed")
        settle_standby(tx, trigger, "failed")
        if "turnId" in trigger.payload:
            settled_in_turn(tx, trigger.payload["turnId"])
        if trigger.space_id is not None:
            post_notice(tx, trigger.space_id, _failure(run.agent_name), trigger.message_id)


def _show_interrupted(tx: Tx, run: Run) -> None:
    """The run ends during a call: mark the call's message as stopped."""
    left = unknown_outcomes(tx, run.id)
    if left:
        forget_secrets(tx, run.id)
    if left and run.active_space_id is not None:
        lock_spaces(tx, spaces_of_run(run))
        for each in left:
            show_stopped(tx, run.active_space_id, run.agent_id, run.id, each.n)


def _tell_spaces(tx: Tx, run: Run, given_up: Sequence[sa.Row[Any]]) -> None:
    """One notice per space, however many of its messages were not answered."""
    first: dict[str, sa.Row[Any]] = {}
    for each in given_up:
        if each.space_id is not None:
            first.setdefault(each.space_id, each)
    for space_id, each in sorted(first.items()):
        post_notice(tx, space_id, _failure(run.agent_name), each.message_id)


def hand_back(tx: Tx, run: Run, charges: Sequence[Charge] = ()) -> None:
    """This worker stops, and another may continue at once. Only what was spent is written: the last call may have
    committed without this worker having noticed, so the row is right about everything else."""
    announce(tx, presence("agent.inactive", run))
    charge(tx, charges)
    update_fenced(tx, run.id, run.fence, **run.spent(), status="queued", lease_owner=None)
    tx.outbox.append(WorkAvailable(payload=QUEUED))


def settle_deliveries(tx: Tx, run_id: str, outcome: str, canceled: str | None = None) -> bool:
    """False if nothing waits for the agent to have room. `canceled` says who canceled the run: then the agents that
    stand by are not woken either (E12)."""
    return _settled(tx, tx.ask(_SETTLE, {"run": run_id, "outcome": outcome}), outcome, canceled)


def _settled(tx: Tx, asked: sa.CursorResult[Any], outcome: str, canceled: str | None = None) -> bool:
    settled = asked.all()
    for row in settled:
        turn_id = turn_of_event(row.event_id)
        if turn_id is not None:
            settled_in_turn(tx, turn_id)
        if row.elected_id is not None:
            settle_standby(tx, row, outcome, canceled)
    return not settled or any(row.more for row in settled)


def _keep_session(tx: Tx, run: Run) -> None:
    """Kept when the run ends, like the cursor (R7). A session of another agent is refused, and the run notes it."""
    assert run.session_id is not None
    assert run.trigger_space_id is not None
    if not keep_session(tx, run.trigger_space_id, run.agent_id, run.session_id):
        run.note("The model named a session that belongs to another agent or space. It was not kept.")


def _ended(tx: Tx, status: str) -> dict[str, Any]:
    return {"status": status, "ended_at": tx.now, "lease_owner": None, "wait_space_id": None, "deadline": None}


def _failure(agent_name: str) -> str:
    """Members cannot act on the reason, which may name hosts and settings. Administrators find it in the run and in
    the list of failures."""
    return f"{agent_name} couldn't answer. An admin has been notified."
