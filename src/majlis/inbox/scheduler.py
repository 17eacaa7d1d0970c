"""The scheduler: plans and heartbeats that are due become deliveries (P4, P6).

Any number of nodes may run it at once: due rows are locked, rows locked by another node are skipped, and the due time
is part of the event's id, so each due time is delivered once (T7).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.agents.config.heartbeat import following_beat
from majlis.agents.plans import when
from majlis.agents.schedules import next_cron
from majlis.clock import Millis, iso
from majlis.inbox.deliver import insert_deliveries, new_delivery
from majlis.inbox.pause import AGENT_PAUSED
from majlis.spaces.cause import Cause, begin_causes
from majlis.store.tables import agents, entities, plan_firings, plans
from majlis.store.transactions import Tx

_person = entities.alias("person")
_PLANS = (
    sa.join(plans, agents, agents.c.id == plans.c.agent_id)
    .join(entities, entities.c.id == agents.c.id)
    .outerjoin(_person, _person.c.id == plans.c.person_id)
)
_AGENTS = sa.join(agents, entities, entities.c.id == agents.c.id)
_ACTIVE = plans.c.status == "active"

# The weaker lock (key_share) does not block foreign keys that refer to the row.
_DUE_PLANS = (
    sa.select(
        plans,
        agents.c.config["timezone"].as_string().label("timezone"),
        # A plan ends when its agent is deleted, or the person it was made for (O2).
        sa.func.coalesce(entities.c.deleted_at, _person.c.deleted_at).label("deleted_at"),
    )
    .select_from(_PLANS)
    # A plan that was due several times while its agent was paused fires once.
    .where(_ACTIVE, plans.c.next_at <= sa.bindparam("now"), ~AGENT_PAUSED)
    .order_by(plans.c.next_at)
    .limit(sa.bindparam("most"))
    .with_for_update(of=plans, skip_locked=True, key_share=True)
)
_DUE_BEATS = (
    sa.select(
        agents.c.id,
        agents.c.heartbeat_at,
        agents.c.config["heartbeat"].label("heartbeat"),
        agents.c.config["timezone"].as_string().label("timezone"),
        entities.c.deleted_at,
    )
    .select_from(_AGENTS)
    .where(agents.c.heartbeat_at <= sa.bindparam("now"), ~AGENT_PAUSED)
    .order_by(agents.c.heartbeat_at)
    .limit(sa.bindparam("most"))
    .with_for_update(of=agents, skip_locked=True, key_share=True)
)
_DAY = 86_400_000
_MOVE_PLAN = plans.update().where(plans.c.id == sa.bindparam("plan"))
_MOVE_BEAT = agents.update().where(agents.c.id == sa.bindparam("agent"))


def fire_due_plans(tx: Tx, limit: int = 100) -> int:
    """How many were due; if as many as `limit`, there may be more. A plan that was due several times fires once."""
    due = tx.all(_DUE_PLANS, {"now": tx.now, "most": limit})
    firing, postponed = _within_the_day(tx, [plan for plan in due if plan.deleted_at is None])
    causes = begin_causes(tx, "plan", [(plan.person_id, plan.cause_id) for plan in firing])
    insert_deliveries(tx, [_plan_delivery(tx, *each) for each in zip(firing, causes, strict=True)])
    if due:
        tx.execute(
            _MOVE_PLAN,
            [
                {"plan": plan.id, **when(_tomorrow(tx.now) if plan in postponed else _next_time(tx, plan))}
                for plan in due
            ],
        )
    return len(due)


def fire_due_heartbeats(tx: Tx, limit: int = 100) -> int:
    """Like `fire_due_plans`."""
    due = tx.all(_DUE_BEATS, {"now": tx.now, "most": limit})
    beating = [agent for agent in due if _beats(agent)]
    causes = begin_causes(tx, "heartbeat", [(None, None)] * len(beating))
    insert_deliveries(tx, [_beat_delivery(tx, *each) for each in zip(beating, causes, strict=True)])
    if due:
        tx.execute(_MOVE_BEAT, [{"agent": agent.id, "heartbeat_at": _next_beat(agent, tx.now)} for agent in due])
    return len(due)


def _plan_delivery(tx: Tx, plan: sa.Row[Any], cause: Cause) -> dict[str, Any]:
    scheduled = iso(plan.next_at)
    payload = {"planId": plan.id, "planName": plan.name, "instruction": plan.instruction, "scheduledAt": scheduled}
    return new_delivery(tx, plan.agent_id, "plan", f"{plan.id}@{scheduled}", payload, plan.chain_depth, cause=cause)


def _beat_delivery(tx: Tx, agent: sa.Row[Any], cause: Cause) -> dict[str, Any]:
    scheduled = iso(agent.heartbeat_at)
    payload = {"scheduledAt": scheduled}
    return new_delivery(tx, agent.id, "heartbeat", f"heartbeat@{scheduled}", payload, cause=cause)


def _within_the_day(tx: Tx, due: list[sa.Row[Any]]) -> tuple[list[sa.Row[Any]], list[sa.Row[Any]]]:
    """The plans that may fire, and those of agents whose plans have fired often enough today (G8)."""
    wanted = Counter(plan.agent_id for plan in due)
    room = {agent_id: tx.hooks.plans_per_day - before for agent_id, before in _count_firings(tx, wanted).items()}
    firing: list[sa.Row[Any]] = []
    postponed: list[sa.Row[Any]] = []
    for plan in due:
        room[plan.agent_id] -= 1
        (firing if room[plan.agent_id] >= 0 else postponed).append(plan)
    return firing, postponed


def _count_firings(tx: Tx, wanted: Mapping[str, int]) -> dict[str, int]:
    """Adds them, and returns how many times each agent's plans had fired before. In the order of agents, to avoid
    deadlocks."""
    if not wanted:
        return {}
    rows = [{"agent_id": each, "day": tx.now // _DAY, "count": wanted[each]} for each in sorted(wanted)]
    insert: Any = (sqlite if tx.dialect == "sqlite" else postgresql).insert(plan_firings).values(rows)
    counted = insert.on_conflict_do_update(
        index_elements=[plan_firings.c.agent_id, plan_firings.c.day],
        set_={"count": plan_firings.c.count + insert.excluded["count"]},
    )
    found = tx.all(counted.returning(plan_firings.c.agent_id, plan_firings.c["count"].label("fired")))
    return {row.agent_id: row.fired - wanted[row.agent_id] for row in found}


def _tomorrow(now: Millis) -> Millis:
    return (now // _DAY + 1) * _DAY


def _next_time(tx: Tx, plan: sa.Row[Any]) -> Millis | None:
    """None ends the plan: a one-time plan that has fired, or one whose agent or person was deleted."""
    if plan.cron is None or plan.deleted_at is not None:
        return None
    return next_cron(plan.cron, plan.timezone, max(tx.now, plan.next_at + tx.hooks.plans_shortest_millis - 1))


def _beats(agent: sa.Row[Any]) -> bool:
    return agent.deleted_at is None and agent.heartbeat is not None


def _next_beat(agent: sa.Row[Any], now: Millis) -> Millis | None:
    config = {"heartbeat": agent.heartbeat if _beats(agent) else None, "timezone": agent.timezone}
    return following_beat(config, agent.heartbeat_at, now)
