"""P4, P6, K1: plans and heartbeats are delivered once for each due time, on any number of nodes, also after
downtime."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa

from majlis import clock
from majlis.agents.agents import change_agent, delete_agent
from majlis.agents.plans import PlanDraft, PlanJson, delete_plans, list_plans, set_plans
from majlis.clock import Millis, iso, parse_iso
from majlis.inbox.scheduler import fire_due_heartbeats, fire_due_plans
from majlis.inbox.wake import WorkAvailable
from majlis.runs.claim.poll import poll
from majlis.store.open import open_database
from majlis.store.tables import agents, deliveries, plans
from majlis.store.transactions import Database, Tx
from tests.agents.actors import OWNER, new_agent

pytestmark = pytest.mark.usefixtures("standing_clock")

SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

SOON = PlanDraft("Ask again", "Ask Sara for the budget.", run_after="1 second")
DAILY = PlanDraft("Daily Report", "Write the daily report.", cron="0 9 * * *")
EVERY_MINUTE = PlanDraft("Look", "Look around.", cron="* * * * *")


@pytest.fixture
async def nodes(database_url: str) -> AsyncIterator[list[Database]]:
    opened = [open_database(database_url) for _ in range(2)]
    yield opened
    for node in opened:
        await node.close()


@pytest.fixture
def db(nodes: list[Database]) -> Database:
    return nodes[0]


async def plan_of(db: Database, agent: str, draft: PlanDraft, chain_depth: int = 0) -> PlanJson:
    (plan,) = await db.write(set_plans, agent, [draft], chain_depth)
    return plan


async def delivered(db: Database) -> list[dict[str, Any]]:
    def read(tx: Tx) -> list[dict[str, Any]]:
        return [dict(row._mapping) for row in tx.all(sa.select(deliveries).order_by(deliveries.c.id))]

    return await db.read(read)


async def fire_at_once(nodes: list[Database], fire: Callable[[Tx], int], rounds: int) -> int:
    """How many deliveries the nodes report. Each round is a minute later, so a plan for every minute is due in each
    round."""
    fired = 0
    for _ in range(rounds):
        clock.advance(MINUTE)
        fired += sum(await asyncio.gather(*(node.write(fire) for node in nodes * 2)))
    return fired


async def beat(db: Database, agent: str) -> Millis | None:
    found: Millis | None = await db.read(
        lambda tx: tx.execute(sa.select(agents.c.heartbeat_at).where(agents.c.id == agent)).scalar_one()
    )
    return found


async def test_p4_a_plan_fires_when_it_is_due_and_not_before(db: Database) -> None:
    agent = await new_agent(db)
    plan = await plan_of(db, agent, PlanDraft("Ask", "Ask Sara.", run_after="1 hour"))
    assert await db.write(fire_due_plans) == 0
    assert await delivered(db) == []
    clock.advance(HOUR)
    assert await db.write(fire_due_plans) == 1
    assert await db.write(fire_due_plans) == 0
    assert len(await delivered(db)) == 1
    (after,) = await db.read(list_plans, agent)
    assert after == {**plan, "status": "completed", "nextAt": None}


async def test_t6_t11_k1_the_delivery_tells_what_was_planned_at_the_depth_of_the_run_that_planned_it(
    db: Database,
) -> None:
    agent = await new_agent(db)
    plan = await plan_of(db, agent, SOON, chain_depth=3)
    clock.advance(SECOND)
    await db.write(fire_due_plans)
    (delivery,) = await delivered(db)
    expected = {
        "agent_id": agent,
        "event_id": f"{plan['id']}@{plan['nextAt']}",
        "type": "plan",
        "space_id": None,
        "message_id": None,
        "chain_depth": 3,
        "state": "pending",
        "run_id": None,
        "attempts": 0,
        "payload": {
            "planId": plan["id"],
            "planName": "Ask again",
            "instruction": "Ask Sara for the budget.",
            "scheduledAt": plan["nextAt"],
        },
    }
    assert {name: delivery[name] for name in expected} == expected


async def test_p4_a_recurring_plans_next_time_comes_from_its_schedule(db: Database) -> None:
    agent = await new_agent(db, timezone="Asia/Kathmandu")
    plan = await plan_of(db, agent, DAILY)
    assert plan["nextAt"] is not None
    due = parse_iso(plan["nextAt"])
    # Found twenty seconds late; the next time does not shift.
    clock.advance(due - clock.now() + 20 * SECOND)
    await db.write(fire_due_plans)
    (after,) = await db.read(list_plans, agent)
    assert after == {**plan, "nextAt": iso(due + DAY)}


async def test_p4_a_plan_that_was_due_many_times_while_everything_was_down_fires_once(db: Database) -> None:
    agent = await new_agent(db)
    plan = await plan_of(db, agent, PlanDraft("Look", "Look around.", cron="0 * * * *"))
    once = await plan_of(db, agent, SOON)
    # To the first second of an hour, three hours later, so that the next time is far away.
    clock.advance(4 * HOUR - clock.now() % HOUR)
    assert await db.write(fire_due_plans) == 2
    assert await db.write(fire_due_plans) == 0
    events = {delivery["event_id"] for delivery in await delivered(db)}
    assert events == {f"{plan['id']}@{plan['nextAt']}", f"{once['id']}@{once['nextAt']}"}
    later = (await db.read(list_plans, agent, "active"))[0]["nextAt"]
    assert later is not None
    assert 0 < parse_iso(later) - clock.now() <= HOUR


async def test_p4_two_nodes_at_once_deliver_each_due_time_once(nodes: list[Database]) -> None:
    """In 200 rounds, two nodes with two transactions each find the same three plans due."""
    agent = await new_agent(nodes[0])
    made = await nodes[0].write(set_plans, agent, [EVERY_MINUTE] * 3, 0)
    fired = await fire_at_once(nodes, fire_due_plans, rounds=200)
    found = Counter(delivery["payload"]["planId"] for delivery in await delivered(nodes[0]))
    assert sum(found.values()) == fired
    assert set(found) == {plan["id"] for plan in made}
    assert set(found.values()) == {200}


async def test_t7_a_due_time_that_is_offered_again_is_dropped_by_the_database(db: Database) -> None:
    """As if another node had not seen that the plan has fired."""
    agent = await new_agent(db)
    plan = await plan_of(db, agent, SOON)
    assert plan["nextAt"] is not None
    due = parse_iso(plan["nextAt"])
    clock.advance(SECOND)
    for _ in range(3):
        await db.write(fire_due_plans)
        await db.write(lambda tx: tx.execute(plans.update().values(status="active", next_at=due)))
    assert len(await delivered(db)) == 1


async def test_p3_a_plan_that_has_fired_and_is_set_again_fires_again(db: Database) -> None:
    agent = await new_agent(db)
    plan = await plan_of(db, agent, SOON)
    clock.advance(SECOND + 1)
    await db.write(fire_due_plans)
    # A time just past counts as now, and is a different event from the first.
    again = await plan_of(db, agent, PlanDraft("Ask", "Ask.", scheduled_at=plan["nextAt"], id=plan["id"]))
    assert again["status"] == "active"
    assert await db.write(fire_due_plans) == 1
    assert len(await delivered(db)) == 2


async def next_due(db: Database) -> int | None:
    """When the worker looks next."""
    return (await db.read(poll, "somebody")).next_at


async def test_p3_a_deleted_plan_does_not_fire(db: Database) -> None:
    agent = await new_agent(db)
    plan = await plan_of(db, agent, SOON)
    await db.write(delete_plans, agent, [plan["id"]])
    clock.advance(SECOND)
    assert await db.write(fire_due_plans) == 0
    assert await next_due(db) is None


async def test_p4_a_few_at_a_time_the_longest_due_first(db: Database) -> None:
    agent = await new_agent(db)
    drafts = [PlanDraft(f"In {n} s", "Do it.", run_after=f"{n} seconds") for n in (3, 1, 5, 2, 4)]
    await db.write(set_plans, agent, drafts, 0)
    clock.advance(5 * SECOND)
    assert [await db.write(fire_due_plans, 2) for _ in range(4)] == [2, 2, 1, 0]
    names = [delivery["payload"]["planName"] for delivery in await delivered(db)]
    assert names == [f"In {n} s" for n in range(1, 6)]


async def test_workers_are_woken_after_the_commit_when_something_fired(db: Database) -> None:
    sent: list[object] = []
    db.after_commit = sent.extend
    agent = await new_agent(db, heartbeat={"everyMinutes": 10})
    await plan_of(db, agent, SOON)
    sent.clear()
    await db.write(fire_due_plans)
    await db.write(fire_due_heartbeats)
    assert sent == []
    clock.advance(10 * MINUTE)
    await db.write(fire_due_plans)
    await db.write(fire_due_heartbeats)
    assert sent == [WorkAvailable(), WorkAvailable()]


async def test_a_deleted_agents_plans_and_heartbeat_fire_no_more(db: Database) -> None:
    agent = await new_agent(db, heartbeat={"everyMinutes": 10})
    await db.write(set_plans, agent, [SOON, EVERY_MINUTE], 0)
    await db.write(delete_agent, OWNER, agent)
    clock.advance(10 * MINUTE)
    await db.write(fire_due_plans)
    await db.write(fire_due_heartbeats)
    assert await delivered(db) == []
    # They are found once and never again.
    assert await db.write(fire_due_plans) == 0
    assert await db.write(fire_due_heartbeats) == 0


async def test_a_damaged_plan_ends_and_does_not_block_others(db: Database) -> None:
    agent = await new_agent(db)
    damaged = await plan_of(db, agent, EVERY_MINUTE)
    await plan_of(db, agent, EVERY_MINUTE)
    spoil = plans.update().where(plans.c.id == damaged["id"]).values(cron="from an edited export")
    await db.write(lambda tx: tx.execute(spoil))
    clock.advance(MINUTE)
    assert await db.write(fire_due_plans) == 2
    assert len(await db.read(list_plans, agent, "active")) == 1


async def test_p4_the_next_due_time_is_the_earliest_of_all_plans_and_heartbeats(db: Database) -> None:
    assert await next_due(db) is None
    agent = await new_agent(db, heartbeat={"everyMinutes": 60})
    assert await next_due(db) == await beat(db, agent)
    plan = await plan_of(db, agent, PlanDraft("Ask", "Ask.", run_after="30 minutes"))
    assert plan["nextAt"] is not None
    assert await next_due(db) == parse_iso(plan["nextAt"])
    clock.advance(30 * MINUTE)
    await db.write(fire_due_plans)
    assert await next_due(db) == await beat(db, agent)


async def test_p6_a_heartbeat_wakes_its_agent_without_an_event_and_keeps_its_rhythm(db: Database) -> None:
    agent = await new_agent(db, heartbeat={"everyMinutes": 10})
    first = await beat(db, agent)
    assert first is not None
    assert await db.write(fire_due_heartbeats) == 0
    clock.advance(first - clock.now() + 700)
    assert await db.write(fire_due_heartbeats) == 1
    assert await db.write(fire_due_heartbeats) == 0
    (delivery,) = await delivered(db)
    assert delivery["event_id"] == f"heartbeat@{iso(first)}"
    assert delivery["payload"] == {"scheduledAt": iso(first)}
    assert (delivery["agent_id"], delivery["type"], delivery["chain_depth"]) == (agent, "heartbeat", 0)
    assert await beat(db, agent) == first + 10 * MINUTE


async def test_p6_heartbeats_missed_while_everything_was_down_fire_once(db: Database) -> None:
    agent = await new_agent(db, heartbeat={"everyMinutes": 10})
    clock.advance(5 * HOUR)
    assert await db.write(fire_due_heartbeats) == 1
    assert await db.write(fire_due_heartbeats) == 0
    assert len(await delivered(db)) == 1
    later = await beat(db, agent)
    assert later is not None
    assert 0 < later - clock.now() <= 10 * MINUTE


async def test_p6_after_the_last_beat_of_the_day_comes_the_next_morning(db: Database) -> None:
    hours = {"from": "09:00", "to": "09:30"}
    agent = await new_agent(db, timezone="Europe/Berlin", heartbeat={"everyMinutes": 20, "activeHours": hours})
    for _ in range(6):
        at = await beat(db, agent)
        assert at is not None
        clock.advance(max(at - clock.now(), 0))
        assert await db.write(fire_due_heartbeats) == 1
    beats = [parse_iso(delivery["payload"]["scheduledAt"]) for delivery in await delivered(db)]
    walls = [f"{datetime.fromtimestamp(at / 1000, ZoneInfo('Europe/Berlin')):%H:%M}" for at in beats]
    # The first two may be anywhere within the half hour if it is now or soon.
    assert all("09:00" <= wall < "09:30" for wall in walls)
    assert walls[-4:] in (["09:00", "09:20"] * 2, ["09:20", "09:00"] * 2)


async def test_p6_two_nodes_at_once_deliver_each_beat_once(nodes: list[Database]) -> None:
    for n in range(3):
        await new_agent(nodes[0], f"Agent {n}", heartbeat={"everyMinutes": 1})
    fired = await fire_at_once(nodes, fire_due_heartbeats, rounds=50)
    found = Counter(delivery["agent_id"] for delivery in await delivered(nodes[0]))
    assert sum(found.values()) == fired
    assert len(found) == 3
    assert set(found.values()) == {50}


async def test_p6_a_beat_while_the_heartbeat_is_being_switched_off_is_the_last(nodes: list[Database]) -> None:
    for n in range(20):
        agent = await new_agent(nodes[0], f"Agent {n}", heartbeat={"everyMinutes": 1})
        clock.advance(MINUTE)
        await asyncio.gather(
            nodes[0].write(fire_due_heartbeats), change_agent(nodes[1], OWNER, agent, None, {"heartbeat": None})
        )
        assert await beat(nodes[0], agent) is None
        assert await nodes[0].write(fire_due_heartbeats) == 0


async def test_a_hundred_due_plans_cost_five_statements_and_a_look_ahead_two(db: Database) -> None:
    for n in range(2):
        agent = await new_agent(db, f"Agent {n}")
        await db.write(set_plans, agent, [EVERY_MINUTE] * 50, 0)
    clock.advance(MINUTE)
    statements: list[str] = []

    def note(_c: object, _cur: object, statement: str, *_: object) -> None:
        statements.append(statement)

    sa.event.listen(db.engine, "before_cursor_execute", note)
    assert await db.write(fire_due_plans) == 100
    assert len(statements) == 5, statements
