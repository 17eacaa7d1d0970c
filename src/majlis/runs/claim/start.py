"""Starts new runs for pending deliveries, oldest first. An agent at its limit is left out of the next query, so that
its queue does not block others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from majlis.inbox.build_trigger import AskedMessages, ask_ahead, build_triggers
from majlis.inbox.deliver import turn_of_event
from majlis.inbox.pause import DELIVERY_PAUSED
from majlis.inbox.standby import settle_standby, without_standby
from majlis.inbox.trigger_shapes import TriggerJson
from majlis.inbox.turns import settled_in_turn
from majlis.runs.budget.park import Lane, park_behind, parked_lanes
from majlis.runs.claim.arrivals import Arrival
from majlis.runs.claim.bursts import resuming_in
from majlis.runs.claim.capacity import ClaimedRuns, free_runs, known_agents
from majlis.runs.claim.cycle import start_cycle
from majlis.runs.claim.gathered import Group, joint_trigger, ready, with_gathered
from majlis.runs.claim.lanes import LANE, TRIED_BEFORE, Lanes, lane_of
from majlis.runs.claim.lease import OUTSIDE_LEASE_MILLIS, RUN_LEASE_MILLIS
from majlis.runs.claim.outside_agents import OUTSIDE_AGENTS
from majlis.runs.claim.runs_per_cause import without_excess
from majlis.runs.run import Run
from majlis.store import ids
from majlis.store.hot import hot, not_among
from majlis.store.tables import deliveries, runs
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

_EVERY_DUE = (
    sa.select(deliveries)
    .where(deliveries.c.state == word("pending"), deliveries.c.not_before <= sa.bindparam("now"), ~DELIVERY_PAUSED)
    .order_by(deliveries.c.not_before, deliveries.c.id)
    .limit(sa.bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_DUE = hot(_EVERY_DUE.where(deliveries.c.agent_id.not_in(OUTSIDE_AGENTS)))
_DUE_OUTSIDE = hot(_EVERY_DUE.where(deliveries.c.agent_id == sa.bindparam("agent"), not_among(LANE, "lanes")))
# The usual case, without agents to leave out, has a statement of its own.
_DUE_TO_OTHERS = hot(_DUE.where(not_among(deliveries.c.agent_id, "full")))
# A delivery that was tried before is included: the others in its lane may wait for it.
_DUE_ELSEWHERE = hot(_DUE_TO_OTHERS.where(sa.or_(TRIED_BEFORE, not_among(LANE, "lanes"))))
# The most deliveries that one round reads, if it may start fewer.
_MOST_AT_ONCE = 256
_INSERT = hot(runs.insert())
_TAKEN = hot(
    deliveries.update()
    .where(deliveries.c.id == sa.bindparam("delivery"))
    .values(state="taken", run_id=sa.bindparam("run"))
)
# Deliveries that a failed try had taken besides its trigger: answers, absorbed events.
_TAKE_ALONG = (
    deliveries.update()
    .where(deliveries.c.run_id.in_(sa.bindparam("earlier", expanding=True)), deliveries.c.state == word("taken"))
    .values(run_id=sa.bindparam("run"))
)
_DROPPED = deliveries.update().where(deliveries.c.id == sa.bindparam("delivery")).values(state="passed")
_OFFER_ALONE = (
    deliveries.update()
    .where(deliveries.c.run_id.in_(sa.bindparam("earlier", expanding=True)), deliveries.c.state == word("taken"))
    .values(state="pending")
)


def start_runs(tx: Tx, owner: str, claimed: ClaimedRuns, most: int) -> bool:
    """True if there may be more."""
    # Once some start nothing, because they go on gathering or their cause is spent, there may be many like them.
    limit = max(most, _MOST_AT_ONCE) if claimed.in_vain else most
    due = _due(tx, claimed, limit)
    left_out = len(claimed.full) + len(claimed.lanes)
    parked, refused = claimed.parked, len(claimed.refused)
    moved = rest = False
    if due:
        asked = ask_ahead(tx, due)
        known = known_agents(tx, {row.agent_id for row in due})
        called = without_standby(tx, due) if any(row.elected_id is not None for row in due) else due
        alone = ready(tx, called) if any(row.gather_until is not None for row in called) else called
        chosen, rest = _with_room(tx, owner, alone, known, claimed, most)
        _start(tx, owner, chosen, known, claimed, asked)
        fewer = len(alone) < len(due) or len(known) < len({row.agent_id for row in due})
        moved = bool(chosen) or claimed.parked > parked or fewer
        claimed.in_vain += len(due) - len(alone) + len(claimed.refused) - refused
    # If nothing was started and nothing is left out, the same query would find the same again.
    return (rest or len(due) == limit) and (moved or len(claimed.full) + len(claimed.lanes) > left_out)


def _due(tx: Tx, claimed: ClaimedRuns, limit: int) -> Sequence[sa.Row[Any]]:
    given: dict[str, Any] = {"now": tx.now, "limit": limit}
    if claimed.outside is not None:
        full = claimed.outside in claimed.full
        lanes = sorted(claimed.lanes)
        return () if full else tx.all(_DUE_OUTSIDE, {**given, "agent": claimed.outside, "lanes": lanes})
    if claimed.lanes:
        return tx.all(_DUE_ELSEWHERE, {**given, "full": sorted(claimed.full), "lanes": sorted(claimed.lanes)})
    if claimed.full:
        return tx.all(_DUE_TO_OTHERS, {**given, "full": sorted(claimed.full)})
    return tx.all(_DUE, given)


def _with_room(
    tx: Tx, owner: str, due: Sequence[sa.Row[Any]], known: dict[str, sa.Row[Any]], claimed: ClaimedRuns, most: int
) -> tuple[list[sa.Row[Any]], bool]:
    """The deliveries for at most `most` runs, and True if it left others for lack of room. A consciousness starts its
    cycle at once, because the cycle takes all its pending deliveries."""
    room = free_runs(known)
    roles = [agent.id for agent in known.values() if agent.mind == "roles"]
    lanes = Lanes(tx, roles) if roles else None
    pausing = [agent.id for agent in known.values() if agent.pausing]
    resuming = resuming_in(tx, pausing) if pausing else set()
    out_of_budget = [agent.id for agent in known.values() if agent.parked]
    parked = parked_lanes(tx, out_of_budget) if out_of_budget else {}
    chosen: list[sa.Row[Any]] = []
    started = len(claimed.runs)
    for delivery in due:
        if claimed.closed:
            break
        if len(chosen) + len(claimed.runs) - started == most:
            return chosen, True
        agent = known.get(delivery.agent_id)
        if agent is None:
            _drop(tx, delivery)
        elif (behind := _parked_before(delivery, agent, parked)) is not None:
            park_behind(tx, behind, [delivery.id])
            claimed.parked += 1
        elif room[agent.id] < 1 or agent.id in claimed.full:
            claimed.full.add(agent.id)
        elif agent.mind == "consciousness":
            start_cycle(tx, owner, agent, claimed)
        elif (agent.id, delivery.space_id) in resuming or (lanes is not None and not lanes.free(delivery)):
            claimed.lanes.add(lane_of(delivery))
        else:
            if lanes is not None:
                lanes.take(delivery)
            room[agent.id] -= 1
            chosen.append(delivery)
    return chosen, False


def _parked_before(delivery: sa.Row[Any], agent: sa.Row[Any], parked: dict[Lane, str]) -> str | None:
    """The parked run that takes the delivery along when it continues (E5). A timeline shows messages that have arrived;
    other events and minds get a run of their own."""
    if delivery.type != "space_message" or agent.mind not in ("timeline", "outside") or "turnId" in delivery.payload:
        return None
    return parked.get((agent.id, delivery.space_id, delivery.person_id))


def _start(
    tx: Tx,
    owner: str,
    chosen: list[sa.Row[Any]],
    known: dict[str, sa.Row[Any]],
    claimed: ClaimedRuns,
    asked: AskedMessages,
) -> None:
    groups = [Group(delivery) for delivery in chosen]
    if any(known[delivery.agent_id].gathering for delivery in chosen):
        groups = with_gathered(tx, chosen, known)
    triggers = build_triggers(tx, [row for group in groups for row in (group.head, *group.along)], asked)
    along = {delivery.id: rows for delivery, rows in groups}
    found: list[Arrival] = []
    joint: dict[str, TriggerJson] = {}
    for group in groups:
        if group.head.id in triggers:
            first, trigger = joint_trigger(group, triggers) if group.along else (group.head, triggers[group.head.id])
            found.append(Arrival(first, trigger))
            joint[first.id] = trigger
            along[first.id] = [row for row in (group.head, *group.along) if row.id != first.id]
    for delivery in chosen:
        if delivery.id not in triggers:
            # The agent was removed from the space, or the space was deleted (A7).
            _drop(tx, delivery)
    if any(delivery.chain_depth for delivery in chosen):
        found, refused = without_excess(tx, found, _along(triggers, along))
        claimed.refused += refused
    started = [(delivery, _new_run(delivery, known[delivery.agent_id], joint[delivery.id])) for delivery, _ in found]
    if not started:
        return
    lease = RUN_LEASE_MILLIS if claimed.outside is None else OUTSIDE_LEASE_MILLIS
    tx.later(_INSERT, [run.new_row(tx, owner, lease) for _, run in started])
    taken = [(row.id, run.id) for delivery, run in started for row in (delivery, *along[delivery.id])]
    tx.later(_TAKEN, [{"delivery": delivery_id, "run": run_id} for delivery_id, run_id in taken])
    for _, run in started:
        if run.earlier:
            tx.execute(_TAKE_ALONG, {"earlier": run.earlier, "run": run.id})
        claimed.add(run, "run.started")


def _along(triggers: dict[str, TriggerJson], along: dict[str, Sequence[sa.Row[Any]]]) -> dict[str, list[Arrival]]:
    return {
        first: [Arrival(row, triggers[row.id]) for row in rows if row.id in triggers] for first, rows in along.items()
    }


def _drop(tx: Tx, delivery: sa.Row[Any]) -> None:
    """No next try will take along the deliveries that failed tries had taken: they are offered on their own."""
    tx.execute(_DROPPED, {"delivery": delivery.id})
    settle_standby(tx, delivery, "passed")
    turn_id = turn_of_event(delivery.event_id)
    if turn_id is not None:
        settled_in_turn(tx, turn_id)
    earlier = delivery.payload.get("earlierRuns")
    if earlier:
        tx.execute(_OFFER_ALONE, {"earlier": earlier})


def _new_run(delivery: sa.Row[Any], agent: sa.Row[Any], trigger: TriggerJson) -> Run:
    space_id = delivery.space_id if delivery.type == "space_message" else None
    return Run(
        id=ids.new("run"),
        agent_id=agent.id,
        agent_name=agent.name,
        agent_version=agent.version,
        has_token=bool(agent.has_token),
        context_limit=agent.context_limit,
        trigger=trigger,
        trigger_space_id=space_id,
        active_space_id=space_id,
        chain_depth=max(trigger["chainDepth"], delivery.payload.get("chainDepth", 0)),
        earlier=list(delivery.payload.get("earlierRuns", ())),
        cause_id=delivery.cause_id,
        person_id=delivery.person_id,
        due_at=max(delivery.created_at, delivery.not_before),
        alone=not (agent.running or agent.pausing),
    )
