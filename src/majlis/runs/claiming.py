"""Taking work: whoever changes the row has it, for as long as its lease lasts (30 s, renewed by a heartbeat).

First what has begun already (resumed waits, runs of dead workers), then what is owed, oldest first. An agent at its
limit is left out of the next look, so that its queue holds up nobody else's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from majlis.inbox.triggers import TriggerJson
from majlis.runs.announcing import Event, announce, presence, run_event
from majlis.runs.building import build_triggers
from majlis.runs.ownership import LEASE_MILLIS, is_dead
from majlis.store import ids
from majlis.store.hot import hot
from majlis.store.tables import agents, deliveries, entities, runs
from majlis.store.tables.columns import word, words
from majlis.store.transactions import Tx

# A run that has brought down this many workers is not given to another one.
MAX_TAKE_OVERS = 5

_UNFINISHED = (
    sa.select(runs.c.id, runs.c.agent_id, runs.c.status, runs.c.lease_owner, runs.c.attempts)
    .where(
        sa.or_(
            sa.and_(runs.c.status == word("queued"), runs.c.agent_id.not_in(sa.bindparam("full", expanding=True))),
            sa.and_(
                runs.c.status == word("running"),
                runs.c.id.not_in(sa.bindparam("held", expanding=True)),
                sa.or_(
                    runs.c.lease_until < sa.bindparam("now"),
                    runs.c.lease_owner.in_(sa.bindparam("dead", expanding=True)),
                ),
            ),
        )
    )
    .order_by(runs.c.status, runs.c.id)
    .limit(sa.bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_TAKE_UP = (
    runs.update()
    .where(
        runs.c.id == sa.bindparam("run"),
        runs.c.status == sa.bindparam("was"),
        runs.c.fence == sa.bindparam("fence_was", type_=sa.BigInteger),
    )
    .values(
        status="running",
        lease_owner=sa.bindparam("owner"),
        lease_until=sa.bindparam("until"),
        fence=runs.c.fence + 1,
        attempts=runs.c.attempts + sa.bindparam("again", type_=sa.Integer),
    )
)
_OWED = hot(
    sa.select(deliveries)
    .where(deliveries.c.state == word("pending"), deliveries.c.not_before <= sa.bindparam("now"))
    .order_by(deliveries.c.not_before, deliveries.c.id)
    .limit(sa.bindparam("limit"))
    .with_for_update(skip_locked=True)
)
# A list among the parameters costs as much again as the statement, so what is asked most often does without.
_OWED_TO_OTHERS = _OWED.where(deliveries.c.agent_id.not_in(sa.bindparam("full", expanding=True)))
_AGENTS = (
    sa.select(
        agents.c.id,
        agents.c.version,
        entities.c.name,
        entities.c.deleted_at,
        agents.c.config["mind"].as_string().label("mind"),
        agents.c.config["limits"]["concurrentRuns"].as_integer().label("concurrent_runs"),
        sa.select(sa.func.count())
        .select_from(runs)
        .where(runs.c.agent_id == agents.c.id, runs.c.status == word("running"))
        .scalar_subquery()
        .label("running"),
        sa.exists()
        .where(runs.c.agent_id == agents.c.id, runs.c.status.in_(words("queued", "waiting_reply", "waiting_tool")))
        .label("pausing"),
    )
    .join(entities, entities.c.id == agents.c.id)
    .order_by(agents.c.id)
)
_ONE_AGENT = hot(_AGENTS.where(agents.c.id == sa.bindparam("agent")))
_SEVERAL_AGENTS = _AGENTS.where(agents.c.id.in_(sa.bindparam("agents", expanding=True)))
# Two workers that claim for one agent do so one after the other: its limit holds in the whole cluster. The weaker lock
# does not stand in the way of a post, which refers to the agent while it holds the space that a claim needs.
_LOCK_AGENTS = (
    sa.select(agents.c.id)
    .where(agents.c.id.in_(sa.bindparam("agents", expanding=True)))
    .order_by(agents.c.id)
    .with_for_update(key_share=True)
)
_LET_GO = (
    deliveries.update()
    .where(deliveries.c.run_id == sa.bindparam("run"), deliveries.c.state == word("taken"))
    .values(state="passed")
)
_ORPHANED = (
    runs.update()
    .where(runs.c.id == sa.bindparam("run"))
    .values(status="canceled", reason="its agent was deleted", ended_at=sa.bindparam("at"), lease_owner=None)
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


@dataclass(slots=True)
class Claimed:
    """A run that is ours now. Has the names that announcing needs."""

    id: str
    agent_id: str
    agent_name: str
    agent_version: int
    trigger: TriggerJson
    trigger_space_id: str | None
    active_space_id: str | None
    chain_depth: int
    fence: int
    attempts: int
    waits: int = 0
    working_millis: int = 0
    requests: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    wait: dict[str, Any] | None = None
    shown: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    # Runs whose calls the model must be shown: this one, if it has begun before, and failed tries at the same event.
    earlier: list[str] = field(default_factory=list)
    # Since when the event was owed; 0 for a run that is taken up again.
    owed_at: int = 0
    # The agent has no other run that is not over, so nobody has to look for one.
    alone: bool = False
    # What the run sees, when the claim could look at once.
    scene: Any = None


@dataclass(frozen=True, slots=True)
class Claim:
    claimed: list[Claimed]
    # Agents at their limit: their queue is worth no look until one of their runs ends.
    full: set[str]
    # Runs to go on with were left in the queue, since their agents had no room.
    behind: bool


Look = Callable[[Tx, Claimed], Any]


def claim(
    tx: Tx,
    owner: str,
    free: int,
    full: Collection[str],
    dead: Collection[str],
    look: Look | None = None,
    held: Collection[str] = (),
    unfinished: bool = True,
) -> Claim:
    """At most `free` runs, with a lease for `owner`. `look` loads what a run sees: here it costs no thread and no
    connection of its own. `held` are runs that the owner is working on: it knows
    better than the clock that they have not died, also after the machine has slept. Without `unfinished` only what is
    owed is looked for."""
    claimed: list[Claimed] = []
    events: list[Event] = []
    now_full: set[str] = set(full)
    behind = False
    while unfinished and len(claimed) < free:
        given = {"now": tx.now, "dead": sorted(dead), "held": sorted(held), "full": sorted(now_full)}
        found = tx.all(_UNFINISHED, {**given, "limit": free - len(claimed)})
        if not found or not _take_up_unfinished(tx, owner, found, claimed, events, now_full):
            break
        behind = True
    while len(claimed) < free:
        limit = free - len(claimed)
        owed = _owed(tx, now_full, limit)
        if owed:
            _begin(tx, owner, owed, claimed, events, now_full)
        if len(owed) < limit:
            break
    _mark_alone(claimed)
    if look is not None:
        for run in claimed:
            run.scene = look(tx, run)
    announce(tx, events)
    return Claim(claimed, now_full, behind)


def _owed(tx: Tx, full: set[str], limit: int) -> Sequence[sa.Row[Any]]:
    if full:
        return tx.all(_OWED_TO_OTHERS, {"now": tx.now, "full": sorted(full), "limit": limit})
    return tx.all(_OWED, {"now": tx.now, "limit": limit})


def _mark_alone(claimed: list[Claimed]) -> None:
    count = Counter(run.agent_id for run in claimed)
    for run in claimed:
        run.alone = run.alone and count[run.agent_id] == 1


def dead_owners(tx: Tx) -> list[str]:
    """Workers of this machine that hold runs and are gone."""
    statement = sa.select(runs.c.lease_owner).where(runs.c.status == word("running"), runs.c.lease_owner.is_not(None))
    return [row.lease_owner for row in tx.all(statement.distinct()) if is_dead(row.lease_owner)]


def _take_up_unfinished(
    tx: Tx,
    owner: str,
    found: Sequence[sa.Row[Any]],
    claimed: list[Claimed],
    events: list[Event],
    full: set[str],
) -> bool:
    """Whether some agent had no room, so that others may stand behind it in the queue."""
    full_before = len(full)
    known = _known_agents(tx, {row.agent_id for row in found})
    rows = {row.id: row for row in tx.all(sa.select(runs).where(runs.c.id.in_([row.id for row in found])))}
    room = {agent.id: agent.concurrent_runs - agent.running for agent in known.values()}
    for each in found:
        run, taken_over = rows[each.id], each.status == "running"
        agent = known.get(run.agent_id)
        if agent is None:
            tx.execute(_ORPHANED, {"run": run.id, "at": tx.now})
            tx.execute(_LET_GO, {"run": run.id})
            continue
        if room[agent.id] < 1 and not taken_over:
            full.add(agent.id)
            continue
        room[agent.id] -= 0 if taken_over else 1
        if _take_up(tx, owner, run, taken_over):
            claimed.append(_again(run, agent, taken_over))
            events += run_event("run.resumed", run, **({"takenOver": True} if taken_over else {}))
            events += presence("agent.active", run)
    return len(full) > full_before


def _take_up(tx: Tx, owner: str, run: sa.Row[Any], taken_over: bool) -> bool:
    values = {
        "run": run.id,
        "was": run.status,
        "fence_was": run.fence,
        "owner": owner,
        "until": tx.now + LEASE_MILLIS,
        "again": int(taken_over),
    }
    return tx.execute(_TAKE_UP, values).rowcount == 1


def _again(run: sa.Row[Any], agent: sa.Row[Any], taken_over: bool) -> Claimed:
    return Claimed(
        id=run.id,
        agent_id=run.agent_id,
        agent_name=agent.name,
        agent_version=agent.version,
        trigger=run.trigger,
        trigger_space_id=run.trigger_space_id,
        active_space_id=run.active_space_id,
        chain_depth=run.chain_depth,
        fence=run.fence + 1,
        attempts=run.attempts + int(taken_over),
        waits=run.waits,
        working_millis=run.working_millis,
        requests=run.requests,
        input_tokens=run.input_tokens,
        cached_tokens=run.cached_tokens,
        output_tokens=run.output_tokens,
        wait=run.wait,
        shown=run.shown or {},
        notes=run.notes or [],
        earlier=[*((run.shown or {}).get("earlier") or ()), run.id],
    )


def _begin(
    tx: Tx,
    owner: str,
    owed: Sequence[sa.Row[Any]],
    claimed: list[Claimed],
    events: list[Event],
    full: set[str],
) -> None:
    known = _known_agents(tx, {row.agent_id for row in owed})
    room = {agent.id: agent.concurrent_runs - agent.running for agent in known.values()}
    chosen: list[sa.Row[Any]] = []
    for delivery in owed:
        agent = known.get(delivery.agent_id)
        if agent is None:
            _drop(tx, delivery)
        elif room[agent.id] < 1 or agent.mind != "timeline":
            full.add(agent.id)
        else:
            room[agent.id] -= 1
            chosen.append(delivery)
    triggers = build_triggers(tx, chosen)
    begun: list[dict[str, Any]] = []
    for delivery in chosen:
        trigger = triggers.get(delivery.id)
        if trigger is None:
            # Removed from the space, or the space is gone: what was said there is not for this agent any more (A7).
            _drop(tx, delivery)
            continue
        run = _new_run(delivery, known[delivery.agent_id], trigger)
        claimed.append(run)
        begun.append(_row(tx, owner, run))
        events += run_event("run.started", run) + presence("agent.active", run)
    if begun:
        tx.execute(_INSERT, begun)
        pairs = _pairs(chosen, triggers, claimed)
        tx.execute(_TAKEN, [{"delivery": delivery.id, "run": run.id} for delivery, run in pairs])
        for _, run in pairs:
            if run.earlier:
                tx.execute(_TAKE_ALONG, {"earlier": run.earlier, "run": run.id})


def _drop(tx: Tx, delivery: sa.Row[Any]) -> None:
    """There is no next try that could take along what the failed ones had taken besides: it is offered by itself."""
    tx.execute(_DROPPED, {"delivery": delivery.id})
    earlier = delivery.payload.get("earlierRuns")
    if earlier:
        tx.execute(_OFFER_ALONE, {"earlier": earlier})


def _pairs(
    chosen: list[sa.Row[Any]], triggers: dict[str, TriggerJson], claimed: list[Claimed]
) -> list[tuple[sa.Row[Any], Claimed]]:
    kept = [delivery for delivery in chosen if delivery.id in triggers]
    return list(zip(kept, claimed[-len(kept) :], strict=True))


def _known_agents(tx: Tx, wanted: set[str]) -> dict[str, sa.Row[Any]]:
    if tx.dialect == "postgresql":
        # First the lock, then the count: a statement that has waited still sees what was before it waited.
        tx.execute(_LOCK_AGENTS, {"agents": sorted(wanted)})
    if len(wanted) == 1:
        found = tx.all(_ONE_AGENT, {"agent": next(iter(wanted))})
    else:
        found = tx.all(_SEVERAL_AGENTS, {"agents": sorted(wanted)})
    return {agent.id: agent for agent in found if agent.deleted_at is None}


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
        chain_depth=delivery.chain_depth,
        fence=1,
        attempts=1,
        shown={"earlier": earlier} if earlier else {},
        earlier=earlier,
        owed_at=max(delivery.created_at, delivery.not_before),
        alone=not (agent.running or agent.pausing),
    )


def _row(tx: Tx, owner: str, run: Claimed) -> dict[str, Any]:
    return {
        "id": run.id,
        "agent_id": run.agent_id,
        "status": "running",
        "trigger": run.trigger,
        "trigger_space_id": run.trigger_space_id,
        "active_space_id": run.active_space_id,
        "chain_depth": run.chain_depth,
        "lease_owner": owner,
        "lease_until": tx.now + LEASE_MILLIS,
        "fence": run.fence,
        "attempts": run.attempts,
        "shown": run.shown or None,
        "created_at": tx.now,
        "started_at": tx.now,
    }
