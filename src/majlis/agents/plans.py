"""The plans of an agent: runs of its own at a later time, once or repeatedly (P3). `inbox.scheduler` fires them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NotRequired

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.agents import own_rows
from majlis.agents.schedules import Schedule, next_cron, read_schedule
from majlis.clock import Millis, iso
from majlis.errors import Invalid
from majlis.spaces.cause import UNKNOWN, Cause
from majlis.spaces.post import checked_text
from majlis.store import ids
from majlis.store.tables import plans
from majlis.store.transactions import Tx

MAX_ACTIVE = 200
# Older completed plans are deleted; their runs stay.
MAX_COMPLETED = 200
MAX_INSTRUCTION_BYTES = 8 * 1024


class PlanJson(TypedDict):
    id: str
    name: str
    instruction: str
    status: own_rows.Progress
    cron: NotRequired[str]
    scheduledAt: NotRequired[str]
    runAfter: NotRequired[str]
    nextAt: str | None
    createdAt: str


@dataclass(frozen=True, slots=True)
class PlanDraft:
    # With an id it replaces that plan. Exactly one of `run_after`, `scheduled_at` and `cron` is set.
    __pydantic_config__ = own_rows.MODEL_INPUT

    name: str
    """A short title on one line."""
    instruction: str
    """What to do when the plan fires. Name people and spaces: the run starts without an active space."""
    run_after: str | None = None
    """Run once, after this time: "45 seconds", "30 minutes", "2 hours", "1 day", "1 week"."""
    scheduled_at: str | None = None
    """Run once, at this time. Include the time zone: "2026-02-18T17:07:00Z"."""
    cron: str | None = None
    """Run repeatedly: minute hour day month weekday, in your time zone. "0 9 * * 1-5" is 09:00 on weekdays."""
    id: str | None = None
    """Give it only to replace an existing plan."""


def set_plans(
    tx: Tx,
    agent_id: str,
    items: Sequence[PlanDraft],
    chain_depth: int,
    cause: Cause = UNKNOWN,
    source: own_rows.Source = own_rows.ADMIN,
) -> list[PlanJson]:
    """`chain_depth` and `cause` are those of the current run: planning does not reset a chain (T6), and a plan fires on
    behalf of the person for whom it was made or last changed (O2)."""
    own_rows.check_count(items, "plans")
    timezone = own_rows.lock_agent(tx, agent_id)
    before = _known(tx, agent_id, items, source)
    made = [_made(tx, agent_id, n, item, before, timezone) for n, item in enumerate(items)]
    own_rows.refuse_repeated((plan["id"] for plan in made), "plans")
    _check_limit(tx, agent_id, [plan["id"] for plan in made])
    kept = {"chain_depth": chain_depth, "cause_id": cause.id, "person_id": cause.person_id, "scope_id": source.scope_id}
    own_rows.upsert(tx, plans, [{**plan, **kept} for plan in made])
    _delete_oldest(tx, agent_id)
    return [_plan_json(plan) for plan in made]


def list_plans(
    tx: Tx, agent_id: str, status: own_rows.Progress | None = None, source: own_rows.Source = own_rows.ADMIN
) -> list[PlanJson]:
    """Active ones first, then newest first."""
    statement = sa.select(plans).where(plans.c.agent_id == agent_id, source.sees(plans))
    if status is not None:
        statement = statement.where(plans.c.status == status)
    statement = statement.order_by(plans.c.status, plans.c.id.desc()).limit(MAX_ACTIVE + MAX_COMPLETED)
    return [_plan_json(dict(row._mapping)) for row in tx.all(statement)]


def delete_plans(
    tx: Tx, agent_id: str, plan_ids: Sequence[str], source: own_rows.Source = own_rows.ADMIN
) -> own_rows.DeletedJson:
    return own_rows.delete_own(tx, plans.c.id, agent_id, plan_ids, "ids", source)


def keep_in_time(tx: Tx, agent_id: str, timezone: str) -> None:
    """Recomputes upcoming times after a change of the agent's time zone. Plans that are due stay due."""
    upcoming = plans.c.agent_id == agent_id, plans.c.cron.is_not(None), plans.c.next_at > tx.now
    for plan in tx.all(sa.select(plans.c.id, plans.c.cron).where(*upcoming).with_for_update()):
        next_at = next_cron(plan.cron, timezone, tx.now)
        tx.execute(plans.update().where(plans.c.id == plan.id).values(when(next_at)))


def when(next_at: Millis | None) -> dict[str, Any]:
    """A plan without a next time is completed; a constraint of the table enforces it."""
    return {"next_at": next_at, "status": "completed" if next_at is None else "active"}


def _known(tx: Tx, agent_id: str, items: Sequence[PlanDraft], source: own_rows.Source) -> dict[str, Millis]:
    """Creation times of the plans to change. Locks them, so that none fires meanwhile."""
    named = [item.id for item in items if item.id is not None and ids.looks_like_id(item.id)]
    own = plans.c.agent_id == agent_id, plans.c.id.in_(named), source.sees(plans)
    rows = tx.all(sa.select(plans.c.id, plans.c.created_at).where(*own).with_for_update())
    return {row.id: row.created_at for row in rows}


def _made(tx: Tx, agent_id: str, n: int, item: PlanDraft, before: dict[str, Millis], timezone: str) -> dict[str, Any]:
    path = f"plans.{n}"
    if item.id is not None and item.id not in before:
        raise Invalid(
            "unknown_plan",
            f"{path}.id: you have no plan {item.id[:64]!r}. Call get_plans to see yours, or omit the id for a new one.",
            {"path": f"{path}.id"},
        )
    return {
        "id": item.id or ids.new("pln"),
        "agent_id": agent_id,
        "name": own_rows.checked_line(item.name, f"{path}.name"),
        "instruction": checked_text(item.instruction.strip(), f"{path}.instruction", MAX_INSTRUCTION_BYTES),
        "status": "active",
        "created_at": before.get(item.id or "", tx.now),
        **asdict(_schedule(path, item, timezone, tx.now)),
    }


def _schedule(path: str, item: PlanDraft, timezone: str, now: Millis) -> Schedule:
    try:
        return read_schedule(item.run_after, item.scheduled_at, item.cron, timezone, now)
    except Invalid as error:
        raise Invalid(error.code, f"{path}: {error.message}", {"path": path}) from None


def _check_limit(tx: Tx, agent_id: str, made: list[str]) -> None:
    others = plans.c.agent_id == agent_id, plans.c.status == "active", plans.c.id.not_in(made)
    count = len(made) + int(tx.execute(sa.select(sa.func.count()).where(*others)).scalar_one())
    own_rows.check_limit("plans", "active plans", 0, count, MAX_ACTIVE, "Delete some with delete_plans first.")


def _delete_oldest(tx: Tx, agent_id: str) -> None:
    completed = sa.select(plans.c.id).where(plans.c.agent_id == agent_id, plans.c.status == "completed")
    oldest = completed.order_by(plans.c.id.desc()).offset(MAX_COMPLETED).limit(1000)
    tx.execute(plans.delete().where(plans.c.id.in_([row.id for row in tx.all(oldest)])))


def _plan_json(plan: dict[str, Any]) -> PlanJson:
    listed: PlanJson = {
        "id": plan["id"],
        "name": plan["name"],
        "instruction": plan["instruction"],
        "status": plan["status"],
        "nextAt": None if plan["next_at"] is None else iso(plan["next_at"]),
        "createdAt": iso(plan["created_at"]),
    }
    if plan["cron"] is not None:
        listed["cron"] = plan["cron"]
    if plan["scheduled_at"] is not None:
        listed["scheduledAt"] = iso(plan["scheduled_at"])
    if plan["run_after"] is not None:
        listed["runAfter"] = plan["run_after"]
    return listed
