"""Takes events of an outside agent: the claim of a worker, made by a program with the agent's token (D2).

Each event is a run with a lease. The run is in the ledger like any other, so a crash of the program or of the
gateway loses nothing: the lease ends, and the event is offered again.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.agents.config.config import AgentConfig, parse_config
from majlis.clock import iso
from majlis.entities.caller import Caller
from majlis.errors import Forbidden, Invalid
from majlis.inbox.build_trigger import build_triggers
from majlis.inbox.pause import DELIVERY_PAUSED, RUN_PAUSED
from majlis.inbox.trigger_shapes import TriggerJson
from majlis.models.port import Said, System, User
from majlis.models.sizes_and_prices import DEFAULT_CONTEXT
from majlis.runs.budget.check import Budgets, check_budgets
from majlis.runs.budget.park import keys_of, park
from majlis.runs.claim.capacity import ClaimedRuns
from majlis.runs.claim.lease import OUTSIDE_LEASE_MILLIS, new_outside_owner
from majlis.runs.claim.resume import resume_runs
from majlis.runs.claim.runs_per_cause import tell_spaces
from majlis.runs.claim.start import start_runs
from majlis.runs.end.outside_leases import AGENT
from majlis.runs.end.settle import complete
from majlis.runs.loop.perceive import mind_of
from majlis.runs.run import Run, announce
from majlis.spaces.damaged_rows import Unreadable, reading
from majlis.store.tables import deliveries, runs
from majlis.store.tables.columns import word
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Tx

MAX_EVENTS = 20

_WAITS_FOR_A_TAKER = sa.select(
    sa.or_(
        sa.exists().where(
            deliveries.c.agent_id == sa.bindparam("agent"),
            deliveries.c.state == word("pending"),
            deliveries.c.not_before <= sa.bindparam("now", type_=sa.BigInteger),
            ~DELIVERY_PAUSED,
        ),
        sa.exists().where(
            runs.c.agent_id == sa.bindparam("agent"),
            NOT_OVER,
            runs.c.status == word("queued"),
            runs.c.reason.is_distinct_from(word("budget")),
            ~RUN_PAUSED,
        ),
    )
)
_TAKEN = (
    sa.select(deliveries)
    .where(deliveries.c.run_id == sa.bindparam("run"), deliveries.c.state == word("taken"))
    .order_by(deliveries.c.id)
)
_KEEP_SHOWN = (
    runs.update()
    .where(runs.c.id == sa.bindparam("run"))
    .values(shown=sa.bindparam("kept", type_=runs.c.shown.type), notes=sa.bindparam("noted", type_=runs.c.notes.type))
)


class _Context(TypedDict, total=False):
    # The timeline, as an agent with that mind is shown it. Left out if a message there is damaged.
    context: str


class TakenEventJson(_Context):
    """`trigger` is the message or event. After a wait it is the answer; `outcome` then says how the wait ended."""

    id: str
    lease: str
    leaseUntil: str
    runId: str
    trigger: TriggerJson
    outcome: dict[str, Any] | None


class TakenEventsJson(TypedDict):
    events: list[TakenEventJson]


def access_outside(tx: Tx, caller: Caller) -> sa.Row[Any]:
    """The caller as an outside agent."""
    agent = tx.one(AGENT, {"agent": caller.id, "now": tx.now}) if caller.type == "agent" else None
    if agent is None or not agent.outside:
        raise Forbidden(
            "not_outside", 'Only an agent whose mind is "outside" can take events. Use a token of that agent.'
        )
    return agent


def outside_id(tx: Tx, caller: Caller) -> str:
    access_outside(tx, caller)
    return caller.id


def has_events(tx: Tx, caller: Caller) -> bool:
    """A cheap look before the claim. True if there may be something to take."""
    return bool(tx.execute(_WAITS_FOR_A_TAKER, {"agent": caller.id, "now": tx.now}).scalar_one())


def take_events(tx: Tx, caller: Caller, most: int, budgets: Budgets) -> TakenEventsJson:
    """At most `most` events, resumed runs first. Events whose budget is spent are parked instead (E5)."""
    agent = access_outside(tx, caller)
    most = min(most, MAX_EVENTS)
    owner = new_outside_owner()
    claimed = ClaimedRuns(set(), outside=caller.id)
    resume_runs(tx, owner, claimed, most, (), ())
    while len(claimed.runs) < most and start_runs(tx, owner, claimed, most - len(claimed.runs)):
        continue
    if claimed.refused:
        tell_spaces(tx, claimed.refused)
    announce(tx, claimed.events)
    if not claimed.runs:
        return {"events": []}
    config = _config_of(agent)
    for run in claimed.runs:
        run.adopt(config)
    affordable = [run for run in claimed.runs if not _is_parked(tx, run, budgets)]
    events = [_event(tx, run, owner) for run in affordable]
    return {"events": [event for event in events if event is not None]}


def _config_of(agent: sa.Row[Any]) -> AgentConfig:
    try:
        return parse_config(agent.config)
    except Invalid:
        # Written by another version of Majlis. The program needs little of it.
        return AgentConfig(mind="outside")


def _is_parked(tx: Tx, run: Run, budgets: Budgets) -> bool:
    if not budgets.apply:
        return False
    check = check_budgets(tx, keys_of(run), budgets.today(), budgets.usd_per_day)
    return check.spent is not None and park(tx, run, [], budgets)


def _event(tx: Tx, run: Run, owner: str) -> TakenEventJson | None:
    taken = tx.all(_TAKEN, {"run": run.id})
    if not taken:
        # Imported without its events: nothing can be settled.
        complete(tx, run, [])
        return None
    outcome = run.wait.outcome if run.wait is not None else None
    answer = next((row for row in taken if outcome and row.message_id == outcome.message_id), None)
    first = answer or next((row for row in taken if row.message_id == run.trigger.get("messageId")), taken[0])
    trigger: TriggerJson = run.trigger
    if answer is not None:
        trigger = {**build_triggers(tx, [answer]).get(answer.id, run.trigger)}
    event: TakenEventJson = {
        "id": first.id,
        "lease": owner,
        "leaseUntil": lease_end(tx),
        "runId": run.id,
        "trigger": trigger,
        "outcome": outcome.to_json() if outcome is not None else None,
    }
    context = _context(tx, run)
    if context is not None:
        event["context"] = context
    return event


def lease_end(tx: Tx) -> str:
    return iso(tx.now + OUTSIDE_LEASE_MILLIS)


def _context(tx: Tx, run: Run) -> str | None:
    """The rendered timeline. What it shows counts as seen when the run ends (C2)."""
    try:
        with reading():
            scene = mind_of(run.config).load(tx, run)
    except Unreadable:
        return None
    view = mind_of(run.config).perceive(scene, run.config.context_tokens or DEFAULT_CONTEXT)
    for space_id, seq in view.shown.items():
        run.saw(space_id, seq)
    run.note(*view.notes)
    kept = run.columns()
    tx.execute(_KEEP_SHOWN, {"run": run.id, "kept": kept["shown"], "noted": kept["notes"]})
    return "\n\n".join(turn.text for turn in view.turns if isinstance(turn, (System, User, Said)))
