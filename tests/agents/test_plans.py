"""P3, T6: plans are set with exactly one time, changed by id, listed with their next time, and deleted."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from majlis import clock
from majlis.agents.agents import change_agent
from majlis.agents.own_rows import MAX_ITEMS
from majlis.agents.plans import MAX_ACTIVE, MAX_COMPLETED, PlanDraft, PlanJson, delete_plans, list_plans, set_plans
from majlis.agents.schedules import next_cron
from majlis.clock import iso, parse_iso
from majlis.errors import Invalid
from majlis.store.tables import plans
from majlis.store.transactions import Database, Tx
from tests.agents.actors import OWNER, new_agent

HOUR = 3_600_000
SOON = PlanDraft("Ask again", "Ask Sara for the budget.", run_after="2 hours")
DAILY = PlanDraft("Daily Report", "Write the daily report.", cron="0 9 * * *")


def rows(tx: Tx) -> list[dict[str, Any]]:
    return [dict(row._mapping) for row in tx.all(sa.select(plans).order_by(plans.c.id))]


async def set_one(db: Database, agent: str, draft: PlanDraft, chain_depth: int = 0) -> PlanJson:
    (plan,) = await db.write(set_plans, agent, [draft], chain_depth)
    return plan


async def test_p3_a_plan_after_a_while(db: Database, agent: str) -> None:
    before = clock.now()
    plan = await set_one(db, agent, SOON)
    assert plan["nextAt"] is not None
    assert before + 2 * HOUR <= parse_iso(plan["nextAt"]) <= clock.now() + 2 * HOUR
    assert plan == {
        "id": plan["id"],
        "name": "Ask again",
        "instruction": "Ask Sara for the budget.",
        "status": "active",
        "runAfter": "2 hours",
        "scheduledAt": plan["nextAt"],
        "nextAt": plan["nextAt"],
        "createdAt": plan["createdAt"],
    }
    assert await db.read(list_plans, agent) == [plan]


async def test_p3_a_plan_at_a_moment(db: Database, agent: str) -> None:
    at = iso(clock.now() + HOUR)
    plan = await set_one(db, agent, PlanDraft("Once", "Do it.", scheduled_at=at))
    assert (plan["scheduledAt"], plan["nextAt"]) == (at, at)
    assert "cron" not in plan
    assert "runAfter" not in plan


async def test_p3_a_recurring_plan_in_the_agents_time_zone(db: Database) -> None:
    agent = await new_agent(db, timezone="Asia/Kathmandu")
    plan = await set_one(db, agent, DAILY)
    assert plan["cron"] == "0 9 * * *"
    assert plan["nextAt"] is not None
    assert plan["nextAt"].endswith("T03:15:00.000Z")
    assert "scheduledAt" not in plan


async def test_t6_a_plan_carries_the_depth_of_the_run_that_set_it(db: Database, agent: str) -> None:
    plan = await set_one(db, agent, SOON, chain_depth=3)
    assert (await db.read(rows))[0]["chain_depth"] == 3
    await set_one(db, agent, PlanDraft("Ask", "Ask.", run_after="1 day", id=plan["id"]), chain_depth=4)
    assert [row["chain_depth"] for row in await db.read(rows)] == [4]


async def test_p3_an_id_replaces_that_plan(db: Database, agent: str) -> None:
    plan = await set_one(db, agent, SOON)
    changed = await set_one(db, agent, PlanDraft("Daily", "Write.", cron="0 9 * * *", id=plan["id"]))
    assert (changed["id"], changed["createdAt"], changed["name"]) == (plan["id"], plan["createdAt"], "Daily")
    assert await db.read(list_plans, agent) == [changed]
    assert "runAfter" not in changed


async def test_p3_a_plan_of_another_agent_is_an_unknown_plan(db: Database, agent: str) -> None:
    other = await new_agent(db, "Designer")
    plan = await set_one(db, agent, SOON)
    with pytest.raises(Invalid, match=r"plans\.0\.id: you have no plan"):
        await set_one(db, other, PlanDraft("Mine", "Do it.", run_after="1 day", id=plan["id"]))
    assert await db.write(delete_plans, other, [plan["id"]]) == {"deleted": [], "notFound": [plan["id"]]}
    assert await db.read(list_plans, agent) == [plan]


@pytest.mark.parametrize(
    "bad",
    [
        PlanDraft("No time", "Do it."),
        PlanDraft("Two times", "Do it.", run_after="1 day", cron="0 9 * * *"),
        PlanDraft("Nonsense", "Do it.", run_after="soon"),
        PlanDraft("Past", "Do it.", scheduled_at="2020-01-01T00:00:00Z"),
        PlanDraft("No zone", "Do it.", scheduled_at="2036-01-01T00:00:00"),
        PlanDraft("Never", "Do it.", cron="0 9 30 2 *"),
        PlanDraft("Seconds", "Do it.", cron="0 0 9 * * *"),
        PlanDraft("Unknown", "Do it.", run_after="1 day", id="pln_0000000000000000"),
        PlanDraft("No id", "Do it.", run_after="1 day", id=""),
        PlanDraft("No id", "Do it.", run_after="1 day", id="nul\x00"),
        PlanDraft("", "Do it.", run_after="1 day"),
        PlanDraft("Two\nlines", "Do it.", run_after="1 day"),
        PlanDraft("n" * 129, "Do it.", run_after="1 day"),
        PlanDraft("Nothing to do", " ", run_after="1 day"),
        PlanDraft("Too much", "x" * 8193, run_after="1 day"),
    ],
    ids=lambda draft: draft.name[:12],
)
async def test_p3_one_bad_plan_refuses_the_whole_call(db: Database, agent: str, bad: PlanDraft) -> None:
    old = await set_one(db, agent, SOON)
    before = await db.read(rows)
    changed = PlanDraft("Changed", "Do it.", run_after="1 day", id=old["id"])
    with pytest.raises(Invalid, match=r"^plans\.2"):
        await db.write(set_plans, agent, [DAILY, changed, bad], 0)
    assert await db.read(rows) == before


async def test_p3_the_same_plan_twice_in_a_call_is_refused(db: Database, agent: str) -> None:
    plan = await set_one(db, agent, SOON)
    again = [PlanDraft(name, "Do it.", run_after="1 day", id=plan["id"]) for name in ("A", "B")]
    with pytest.raises(Invalid, match="twice"):
        await db.write(set_plans, agent, again, 0)


async def test_p3_an_agent_has_at_most_200_active_plans(db: Database, agent: str) -> None:
    for _ in range(0, MAX_ACTIVE, MAX_ITEMS):
        made = await db.write(set_plans, agent, [SOON] * MAX_ITEMS, 0)
    with pytest.raises(Invalid, match="201 active plans; at most 200"):
        await set_one(db, agent, DAILY)
    await set_one(db, agent, PlanDraft("Changed", "Do it.", run_after="1 day", id=made[0]["id"]))
    await db.write(delete_plans, agent, [made[1]["id"]])
    await set_one(db, agent, DAILY)
    assert len(await db.read(list_plans, agent)) == MAX_ACTIVE


async def test_p3_plans_are_listed_by_status_and_old_completed_ones_are_forgotten(db: Database, agent: str) -> None:
    def complete(tx: Tx) -> None:
        tx.execute(plans.update().where(plans.c.agent_id == agent).values(status="completed", next_at=None))

    for _ in range(MAX_COMPLETED // MAX_ITEMS + 1):
        made = await db.write(set_plans, agent, [SOON] * MAX_ITEMS, 0)
        await db.write(complete)
    daily = await set_one(db, agent, DAILY)
    listed = await db.read(list_plans, agent)
    assert len(listed) == MAX_COMPLETED + 1
    assert [plan["id"] for plan in listed[:2]] == [daily["id"], made[-1]["id"]]
    assert listed[1]["nextAt"] is None
    assert await db.read(list_plans, agent, "active") == [daily]
    assert len(await db.read(list_plans, agent, "completed")) == MAX_COMPLETED


async def test_p3_when_the_agent_moves_to_another_zone_its_recurring_plans_move_along(db: Database) -> None:
    agent = await new_agent(db, timezone="UTC")
    daily, soon = await db.write(set_plans, agent, [DAILY, SOON], 0)
    await change_agent(db, OWNER, agent, None, {"timezone": "Asia/Tokyo"})
    listed = {plan["id"]: plan for plan in await db.read(list_plans, agent)}
    assert listed[soon["id"]] == soon
    moved = listed[daily["id"]]["nextAt"]
    assert moved is not None
    assert moved.endswith("T00:00:00.000Z")
    assert next_cron("0 9 * * *", "Asia/Tokyo", clock.now()) == parse_iso(moved)


async def test_p4_a_plan_that_is_due_stays_due_when_its_agent_moves(db: Database) -> None:
    agent = await new_agent(db, timezone="UTC")
    plan = await set_one(db, agent, PlanDraft("Often", "Do it.", cron="* * * * *"))
    clock.advance(61_000)
    await change_agent(db, OWNER, agent, None, {"timezone": "Asia/Tokyo"})
    assert [each["nextAt"] for each in await db.read(list_plans, agent)] == [plan["nextAt"]]
