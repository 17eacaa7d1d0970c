"""New runs for what is owed, oldest first. An agent at its limit is left out of the next look, so that its queue holds
up nobody else's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from majlis.inbox.build_trigger import build_triggers
from majlis.inbox.trigger import TriggerJson
from majlis.inbox.turns import settled_in_turn, turn_of_event
from majlis.runs.claim.capacity import known_agents
from majlis.runs.claim.claimed import Claim, Claimed, row_of
from majlis.runs.claim.cycle import begin_cycle
from majlis.runs.claim.lanes import LANE, lane_of, lanes_of
from majlis.runs.view.events import presence, run_event
from majlis.store import ids
from majlis.store.hot import hot
from majlis.store.tables import deliveries, runs
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

_OWED = hot(
    sa.select(deliveries)
    .where(deliveries.c.state == word("pending"), deliveries.c.not_before <= sa.bindparam("now"))
    .order_by(deliveries.c.not_before, deliveries.c.id)
    .limit(sa.bindparam("limit"))
    .with_for_update(skip_locked=True)
)
# A list among the parameters costs as much again as the statement, so what is asked most often does without.
_OWED_TO_OTHERS = _OWED.where(deliveries.c.agent_id.not_in(sa.bindparam("full", expanding=True)))
# What was tried before is looked at all the same: it may be what the others in its lane wait for.
_OWED_ELSEWHERE = _OWED_TO_OTHERS.where(
    sa.or_(deliveries.c.not_before > 0, LANE.not_in(sa.bindparam("lanes", expanding=True)))
)
_INSERT = hot(runs.insert())
_TAKEN = hot(
    deliveries.update()
    .where(deliveries.c.id == sa.bindparam("delivery"))
    .values(state="taken", run_id=sa.bindparam("run"))
)
# What a failed try had taken besides its trigger: answers, absorbed events.
_TAKE_ALONG = (
    deliveries.update()
    .where(
        deliveries.c.run_id.in_(sa.bindparam("earlier", expanding=True)),
        deliveries.c.state == word("taken"),
    )
    .values(run_id=sa.bindparam("run"))
)
_DROPPED = deliveries.update().where(deliveries.c.id == sa.bindparam("delivery")).values(state="passed")
_OFFER_ALONE = (
    deliveries.update()
    .where(
        deliveries.c.run_id.in_(sa.bindparam("earlier", expanding=True)),
        deliveries.c.state == word("taken"),
    )
    .values(state="pending")
)


def begin(tx: Tx, owner: str, claim: Claim, limit: int) -> bool:
    """Whether there may be more."""
    owed = _owed(tx, claim, limit)
    left_out = len(claim.full) + len(claim.lanes)
    moved = False
    if owed:
        known = known_agents(tx, {row.agent_id for row in owed})
        chosen = _with_room(tx, owner, owed, known, claim)
        _begin(tx, owner, chosen, known, claim)
        moved = bool(chosen) or len(known) < len({row.agent_id for row in owed})
    # A look that found nothing to begin and nobody to leave out would find the same again.
    return len(owed) == limit and (moved or len(claim.full) + len(claim.lanes) > left_out)


def _owed(tx: Tx, claim: Claim, limit: int) -> Sequence[sa.Row[Any]]:
    given: dict[str, Any] = {"now": tx.now, "limit": limit}
    if claim.lanes:
        return tx.all(_OWED_ELSEWHERE, {**given, "full": sorted(claim.full), "lanes": sorted(claim.lanes)})
    if claim.full:
        return tx.all(_OWED_TO_OTHERS, {**given, "full": sorted(claim.full)})
    return tx.all(_OWED, given)


def _with_room(
    tx: Tx, owner: str, owed: Sequence[sa.Row[Any]], known: dict[str, sa.Row[Any]], claim: Claim
) -> list[sa.Row[Any]]:
    """A consciousness is woken at once: it takes all that it is owed, not this delivery alone."""
    room = {agent.id: agent.concurrent_runs - agent.running for agent in known.values()}
    lanes = lanes_of(tx, known)
    chosen: list[sa.Row[Any]] = []
    for delivery in owed:
        agent = known.get(delivery.agent_id)
        if agent is None:
            _drop(tx, delivery)
        elif room[agent.id] < 1 or agent.id in claim.full:
            claim.full.add(agent.id)
        elif agent.mind == "consciousness":
            begin_cycle(tx, owner, agent, claim)
        elif lanes is not None and not lanes.free(delivery):
            claim.lanes.add(lane_of(delivery))
        else:
            if lanes is not None:
                lanes.take(delivery)
            room[agent.id] -= 1
            chosen.append(delivery)
    return chosen


def _begin(tx: Tx, owner: str, chosen: list[sa.Row[Any]], known: dict[str, sa.Row[Any]], claim: Claim) -> None:
    triggers = build_triggers(tx, chosen)
    begun: list[tuple[sa.Row[Any], Claimed]] = []
    for delivery in chosen:
        trigger = triggers.get(delivery.id)
        if trigger is None:
            # Removed from the space, or the space is gone: what was said there is not for this agent any more (A7).
            _drop(tx, delivery)
        else:
            begun.append((delivery, _new_run(delivery, known[delivery.agent_id], trigger)))
    if not begun:
        return
    tx.execute(_INSERT, [row_of(tx, owner, run) for _, run in begun])
    tx.execute(_TAKEN, [{"delivery": delivery.id, "run": run.id} for delivery, run in begun])
    for _, run in begun:
        if run.earlier:
            tx.execute(_TAKE_ALONG, {"earlier": run.earlier, "run": run.id})
        claim.claimed.append(run)
        claim.events += run_event("run.started", run) + presence("agent.active", run)


def _drop(tx: Tx, delivery: sa.Row[Any]) -> None:
    """There is no next try that could take along what the failed ones had taken besides: it is offered by itself."""
    tx.execute(_DROPPED, {"delivery": delivery.id})
    turn_id = turn_of_event(delivery.event_id)
    if turn_id is not None:
        settled_in_turn(tx, turn_id)
    earlier = delivery.payload.get("earlierRuns")
    if earlier:
        tx.execute(_OFFER_ALONE, {"earlier": earlier})


def _new_run(delivery: sa.Row[Any], agent: sa.Row[Any], trigger: TriggerJson) -> Claimed:
    space_id = delivery.space_id if delivery.type == "space_message" else None
    earlier = list(delivery.payload.get("earlierRuns", ()))
    return Claimed(
        id=ids.new("run"),
        agent_id=agent.id,
        agent_name=agent.name,
        agent_version=agent.version,
        trigger=trigger,
        trigger_space_id=space_id,
        active_space_id=space_id,
        chain_depth=max(delivery.chain_depth, delivery.payload.get("chainDepth", 0)),
        fence=1,
        attempts=1,
        shown={"earlier": earlier} if earlier else {},
        earlier=earlier,
        owed_at=max(delivery.created_at, delivery.not_before),
        alone=not (agent.running or agent.pausing),
    )
