"""P4–P6 in the engine: plans, heartbeats and services trigger an agent without an active space."""

from __future__ import annotations

from typing import Any

import pytest

from majlis import clock
from majlis.clock import parse_iso
from majlis.settings import Settings
from tests.model_server import ModelServer, Reply, call, say, sequence, silent
from tests.runs.house import House, block
from tests.world import Person, serve_world

pytestmark = pytest.mark.usefixtures("standing_clock")


async def planning(house: House, **when: str) -> tuple[Person, str]:
    """An agent that has a plan, and its space."""
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    plan = {"name": "Look again", "instruction": "Look at Project Alpha.", **when}
    house.model.script = sequence(call("set_plans", plans=[plan]), silent())
    await house.owner.say(space, "Look again later")
    await house.until_idle()
    return scout, space


async def planned_runs(house: House, scout: Person) -> list[Any]:
    return [run for run in await house.runs(scout) if run["trigger"]["type"] == "plan"]


@pytest.mark.usefixtures("wake_ups_only")
async def test_p4_a_plan_fires_once_when_its_time_comes_and_starts_nowhere(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    scout, space = await planning(house, runAfter="45 seconds")
    house.model.script = sequence(call("enter_space", spaceId=space), say("I have looked."), silent())
    house.advance(44)
    await house.until_idle()
    assert await planned_runs(house, scout) == []
    [plan] = await house.owner.ok("GET", f"/api/agents/{scout.id}/plans")
    due = parse_iso(plan["scheduledAt"])
    monkeypatch.setattr(clock, "_standing", None)
    house.advance((due - clock.now()) / 1000 - 0.3)
    # The worker's own timer tells it that the time has come.
    await house.model.until_asked(5)
    await house.until_idle()
    [run] = await planned_runs(house, scout)
    assert parse_iso(run["createdAt"]) >= due
    [plan] = await house.owner.ok("GET", f"/api/agents/{scout.id}/plans")
    assert run["trigger"] == {
        "type": "plan",
        "chainDepth": 0,
        "planId": plan["id"],
        "planName": "Look again",
        "instruction": "Look at Project Alpha.",
        "scheduledAt": plan["scheduledAt"],
    }
    shown = house.model.asked[2]
    assert block(shown, "TRIGGER") == [
        "type: plan",
        f'plan: "Look again" (id: {plan["id"]})',
        'instruction: "Look at Project Alpha."',
        f'scheduledAt: "{plan["scheduledAt"]}"',
    ]
    assert "ACTIVE SPACE: none (call enter_space to enter a space first)" in shown.text
    assert (await house.texts(space))[-1] == ("Scout", "I have looked.")
    house.advance(3600)
    await house.until_idle()
    assert len(await planned_runs(house, scout)) == 1


async def test_p4_a_recurring_plan_fires_again(house: House) -> None:
    scout, _ = await planning(house, cron="* * * * *")
    for n in (3, 4, 5):
        house.advance(60)
        await house.model.until_asked(n)
        await house.until_idle()
    times = [run["trigger"]["scheduledAt"] for run in await planned_runs(house, scout)]
    assert len(set(times)) == 3
    assert [parse_iso(time) % 60_000 for time in times] == [0, 0, 0]


async def test_p4_plans_that_fell_due_during_downtime_fire_once_at_start(settings: Settings) -> None:
    async with ModelServer() as model:
        async with serve_world(settings) as world:
            house = House(world, model)
            scout, _ = await planning(house, cron="* * * * *")
        clock.advance(600_000)
        async with serve_world(settings) as world:
            house = House(world, model)
            await model.until_asked(3)
            await house.until_idle()
            assert len(await planned_runs(house, scout)) == 1


async def test_p4_a_deleted_plan_does_not_fire(house: House) -> None:
    scout, space = await planning(house, runAfter="1 hour")
    [plan] = await house.owner.ok("GET", f"/api/agents/{scout.id}/plans")
    house.model.script = sequence(call("delete_plans", ids=[plan["id"]]), silent())
    await house.owner.say(space, "Never mind")
    await house.until_idle()
    house.advance(3601)
    await house.until_idle()
    assert await planned_runs(house, scout) == []


async def test_p4_a_plan_of_a_failing_agent_is_offered_again(house: House) -> None:
    house.try_models_once()
    scout, _ = await planning(house, runAfter="1 hour")
    fails = iter([True])
    house.model.script = lambda asked: Reply(status=500) if next(fails, False) else silent()
    house.advance(3600)
    await house.model.until_asked(3)
    await house.until_idle()
    house.advance(1)
    await house.model.until_asked(4)
    await house.until_idle()
    assert [run["status"] for run in await planned_runs(house, scout)] == ["failed", "completed"]


async def test_p5_a_service_triggers_an_agent(house: House) -> None:
    scout = await house.agent("Scout")
    shop = await house.world.person("Shop", type="service")
    body = {"serviceName": "orders", "payload": {"order": 7, "note": "é\n[NEW]"}, "eventId": "order-7"}
    answers = [await shop.post(f"/api/agents/{scout.id}/trigger", body) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert [answer.json()["duplicate"] for answer in answers] == [False, True]
    await house.until_idle()
    [run] = await house.runs()
    assert run["trigger"] == {
        "type": "service",
        "chainDepth": 0,
        "serviceName": "Shop",
        "serviceLabel": "orders",
        "payload": {"order": 7, "note": "é\n[NEW]"},
        "eventId": "order-7",
    }
    assert (run["status"], run["activeSpaceId"]) == ("completed", None)
    assert block(house.model.asked[0], "TRIGGER") == [
        "type: service",
        'service: "Shop" (label: "orders")',
        'payload: {"order":7,"note":"é\\n[NEW]"}',
    ]


async def test_p6_a_heartbeat_wakes_an_agent_with_no_event(house: House) -> None:
    scout = await house.agent("Scout", heartbeat={"everyMinutes": 10})
    quiet = await house.agent("Quiet")
    house.advance(601)
    await house.model.until_asked(1)
    await house.until_idle()
    [run] = await house.runs()
    assert (run["agentId"], run["trigger"]["type"], run["chainDepth"]) == (scout.id, "heartbeat", 0)
    assert run["activeSpaceId"] is None
    assert block(house.model.asked[0], "TRIGGER")[0] == "type: heartbeat"
    house.advance(601)
    await house.model.until_asked(2)
    await house.until_idle()
    assert len(await house.runs(scout)) == 2
    assert await house.runs(quiet) == []
