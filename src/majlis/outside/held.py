"""Events that a program holds: renew the lease, send messages, settle (D2). The lease is the fence: when it has ended,
nothing is changed and the program gets `lease_ended`."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson
import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.agents.config.config import AgentConfig, parse_config
from majlis.entities.caller import Caller
from majlis.errors import Conflict, Forbidden, Invalid
from majlis.inbox.pause import RUN_PAUSED
from majlis.outside.take import TakenEventJson, lease_end
from majlis.runs.calls.commit import commit_call
from majlis.runs.calls.permission import needs_approval
from majlis.runs.claim.lease import OUTSIDE_LEASE_MILLIS, is_outside_owner
from majlis.runs.end.outside_leases import AGENT
from majlis.runs.end.settle import complete, fail, hand_back
from majlis.runs.journal import Entry, Fenced
from majlis.runs.loop.earlier_calls import next_step
from majlis.runs.run import Run, spaces_of_run
from majlis.spaces.access import lock_spaces
from majlis.spaces.history import get_message
from majlis.spaces.post import Repeated, is_stored
from majlis.spaces.shapes import MessageJson
from majlis.store.tables import agents, deliveries, runs
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx
from majlis.tools.builtin.send_message import send_message_and_wait

Settled = Literal["done", "passed", "failed"]

_LOCK_AGENT = sa.select(agents.c.id).where(agents.c.id == sa.bindparam("agent")).with_for_update(key_share=True)
_RUN = (
    sa.select(runs, RUN_PAUSED.label("paused"), deliveries.c.state.label("delivery_state"))
    .join(deliveries, deliveries.c.run_id == runs.c.id)
    .where(deliveries.c.id == sa.bindparam("delivery"), runs.c.agent_id == sa.bindparam("agent"))
)
_RENEW = (
    runs.update()
    .where(
        runs.c.id == sa.bindparam("run"), runs.c.lease_owner == sa.bindparam("lease"), runs.c.status == word("running")
    )
    .values(
        lease_until=sa.bindparam("until", type_=sa.BigInteger), active_space_id=sa.bindparam("space", type_=sa.String)
    )
)
# Keeps the lease with the ended run, so that a repeated request is recognized.
_REMEMBER = runs.update().where(runs.c.id == sa.bindparam("run")).values(lease_owner=sa.bindparam("lease"))


class LeaseJson(TypedDict):
    id: str
    lease: str
    leaseUntil: str


class SettledJson(TypedDict):
    id: str
    runId: str
    state: Settled


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message with the lease of the event that it is sent for. `wait` is `true`, `false` or an object as in W1."""

    delivery_id: str
    lease: str
    text: str
    client_id: str | None = None
    reply_to: str | None = None
    mentions: tuple[str, ...] = ()
    wait: bool | dict[str, Any] = False
    files: Sequence[str] = ()


def renew_event(tx: Tx, caller: Caller, delivery_id: str, lease: str) -> LeaseJson:
    row = _held(tx, caller, delivery_id, lease)
    _renew(tx, row, lease)
    return {"id": delivery_id, "lease": lease, "leaseUntil": lease_end(tx)}


def settle_event(
    tx: Tx, caller: Caller, delivery_id: str, lease: str, state: Settled, reason: str | None = None
) -> SettledJson:
    """Ends the run and settles all its deliveries. Repeating it with the same state changes nothing."""
    tx.execute(_LOCK_AGENT, {"agent": caller.id})
    found = _find(tx, caller, delivery_id)
    if found is not None and found.lease_owner == lease and found.delivery_state == state:
        return {"id": delivery_id, "runId": found.id, "state": state}
    row = _held(tx, caller, delivery_id, lease, paused_too=True)
    run = _run_of(tx, caller, row)
    try:
        if state == "failed":
            fail(tx, run, [], "outside_failed", reason or "The program could not handle this event.", 1)
        else:
            if reason:
                run.note(reason)
            complete(tx, run, [], outcome=state)
    except Fenced:
        raise _lease_ended() from None
    tx.execute(_REMEMBER, {"run": run.id, "lease": lease})
    return {"id": delivery_id, "runId": run.id, "state": state}


def give_back(tx: Tx, caller: Caller, events: Sequence[TakenEventJson]) -> None:
    """The program has gone before it got the events: they are offered again at once."""
    tx.execute(_LOCK_AGENT, {"agent": caller.id})
    found = [(event, _find(tx, caller, event["id"])) for event in events]
    rows = [row for event, row in found if row is not None and row.lease_owner == event["lease"]]
    lock_spaces(tx, sorted({space for row in rows for space in spaces_of_run(row)}))
    for row in sorted(rows, key=lambda row: str(row.id)):
        with contextlib.suppress(Fenced):
            hand_back(tx, _run_of(tx, caller, row))


def send_for_event(tx: Tx, caller: Caller, space_id: str, out: Outgoing) -> MessageJson:
    """Posts with the cause, the depth and the person of the event. It is journalled as a call of `send_message`, and
    with `wait` it pauses the run: the answer is the agent's next event. Raises Repeated for a known client id."""
    if out.client_id is not None and is_stored(tx, caller, space_id, out.client_id):
        raise Repeated
    # One message of the agent after another: each has a step of its own. Lock order: agent, then spaces.
    tx.execute(_LOCK_AGENT, {"agent": caller.id})
    row = _held(tx, caller, out.delivery_id, out.lease)
    run = _run_of(tx, caller, row)
    if out.wait is not False and not run.config.waits:
        raise Invalid("waits_off", "This agent cannot wait: its config has waits: false.", {"path": "wait"})
    run.active_space_id = space_id
    given = {"text": out.text, "messageId": out.reply_to, "mentions": list(out.mentions), "wait": out.wait}
    given |= {"files": list(out.files)} if out.files else {}
    parsed = send_message_and_wait.parse(orjson.dumps(given).decode())
    n = next_step(tx, run.id)
    entry = Entry(n, "tool", tx.now, call_id=f"out_{n}", name="send_message", input=given)
    if needs_approval(tx, run.config, space_id, entry.name or ""):
        raise Forbidden(
            "needs_approval", "A policy requires an approval for each message, which only runs can ask for."
        )
    try:
        _, result = commit_call(tx, run, send_message_and_wait, parsed, None, entry, [], (), "checked", out.client_id)
        if result["status"] != "waiting":
            # Also back to the space that its context shows.
            _renew(tx, row, out.lease)
    except Fenced:
        raise _lease_ended() from None
    return get_message(tx, caller, result["messageId"])


def _held(tx: Tx, caller: Caller, delivery_id: str, lease: str, paused_too: bool = False) -> sa.Row[Any]:
    row = _find(tx, caller, delivery_id)
    holds = row is not None and row.status == "running" and row.lease_owner == lease and is_outside_owner(lease)
    if row is None or not holds or row.lease_until < tx.now:
        raise _lease_ended()
    if row.paused and not paused_too:
        raise Conflict("paused", "The agent is paused. The event is offered again when an admin resumes it.")
    return row


def _find(tx: Tx, caller: Caller, delivery_id: str) -> sa.Row[Any] | None:
    return tx.one(_RUN, {"delivery": delivery_id, "agent": caller.id})


def _run_of(tx: Tx, caller: Caller, row: sa.Row[Any]) -> Run:
    agent = tx.execute(AGENT, {"agent": caller.id, "now": tx.now}).one()
    run = Run.from_row(row, agent)
    try:
        run.adopt(parse_config(agent.config))
    except Invalid:
        run.adopt(AgentConfig(mind="outside"))
    return run


def _renew(tx: Tx, row: sa.Row[Any], lease: str) -> None:
    given = {"run": row.id, "lease": lease, "until": tx.now + OUTSIDE_LEASE_MILLIS, "space": row.active_space_id}
    if tx.execute(_RENEW, given).rowcount == 0:
        raise _lease_ended()


def _lease_ended() -> Conflict:
    return Conflict(
        "lease_ended",
        "You do not hold this event: the lease has ended, the run was canceled, or it is settled. Nothing was changed. "
        "Drop it and take the next one.",
    )
