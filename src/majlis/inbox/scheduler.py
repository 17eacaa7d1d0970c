"""The scheduler: plans and heartbeats that are due become deliveries (P4, P6).

Any number of nodes may run it at once: due rows are locked, rows locked by another node are skipped, and the due time
is part of the event's id, so each due time is delivered once (T7).
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.agents.config.heartbeat import following_beat
from majlis.agents.plans import when
from majlis.agents.schedules import next_cron
from majlis.clock import Millis, iso
from majlis.inbox.deliver import insert_deliveries, new_delivery
from majlis.store.tables import agents, entities, plans
from majlis.store.transactions import Tx

_PLANS = sa.join(plans, agents, agents.c.id == plans.c.agent_id).join(entities, entities.c.id == agents.c.id)
_AGENTS = sa.join(agents, entities, entities.c.id == agents.c.id)
_ACTIVE = plans.c.status == "active"

# The weaker lock (key_share) does not block foreign keys that refer to the row.
_DUE_PLANS = (
    sa.select(plans, agents.c.config["timezone"].as_string().label("timezone"), entities.c.deleted_at)
    .select_from(_PLANS)
    .where(_ACTIVE, plans.c.next_at <= sa.bindparam("now"))
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
    .where(agents.c.heartbeat_at <= sa.bindparam("now"))
    .order_by(agents.c.heartbeat_at)
    .limit(sa.bindparam("most"))
    .with_for_update(of=agents, skip_locked=True, key_share=True)
)
_MOVE_PLAN = plans.update().where(plans.c.id == sa.bindparam("plan"))
_MOVE_BEAT = agents.update().where(agents.c.id == sa.bindparam("agent"))


def fire_due_plans(tx: Tx, limit: int = 100) -> int:
    """How many were due; if as many as `limit`, there may be more. A plan that was due several times fires once."""
    due = tx.all(_DUE_PLANS, {"now": tx.now, "most": limit})
    insert_deliveries(tx, [_plan_delivery(tx, plan) for plan in due if plan.deleted_at is None])
    if due:
        tx.execute(_MOVE_PLAN, [{"plan": plan.id, **when(_next_time(plan, tx.now))} for plan in due])
    return len(due)


def fire_due_heartbeats(tx: Tx, limit: int = 100) -> int:
    """As `fire_due_plans`."""
    due = tx.all(_DUE_BEATS, {"now": tx.now, "most": limit})
    insert_deliveries(tx, [_beat_delivery(tx, agent) for agent in due if _beats(agent)])
    if due:
        tx.execute(_MOVE_BEAT, [{"agent": agent.id, "heartbeat_at": _next_beat(agent, tx.now)} for agent in due])
    return len(due)


def _plan_delivery(tx: Tx, plan: sa.Row[Any]) -> dict[str, Any]:
    scheduled = iso(plan.next_at)
    payload = {"planId": plan.id, "planName": plan.name, "instruction": plan.instruction, "scheduledAt": scheduled}
    return new_delivery(tx, plan.agent_id, "plan", f"{plan.id}@{scheduled}", payload, plan.chain_depth)


def _beat_delivery(tx: Tx, agent: sa.Row[Any]) -> dict[str, Any]:
    scheduled = iso(agent.heartbeat_at)
    return new_delivery(tx, agent.id, "heartbeat", f"heartbeat@{scheduled}", {"scheduledAt": scheduled})


def _next_time(plan: sa.Row[Any], now: Millis) -> Millis | None:
    """None ends the plan: a one-time plan that has fired, or one whose agent was deleted."""
    if plan.cron is None or plan.deleted_at is not None:
        return None
    return next_cron(plan.cron, plan.timezone, now)


def _beats(agent: sa.Row[Any]) -> bool:
    return agent.deleted_at is None and agent.heartbeat is not None


def _next_beat(agent: sa.Row[Any], now: Millis) -> Millis | None:
    config = {"heartbeat": agent.heartbeat if _beats(agent) else None, "timezone": agent.timezone}
    return following_beat(config, agent.heartbeat_at, now)
