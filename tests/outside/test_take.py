"""D2: a program takes the events of an outside agent by long poll, answers and settles them."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from majlis.entities.caller import Caller
from majlis.outside.held import give_back
from majlis.outside.polls import MAX_POLLS
from majlis.settings import Settings
from tests.conditions import until
from tests.outside.program import Program, attempts, outside, refused
from tests.runs.house import House
from tests.world import Person, serve_world


async def test_d2_a_program_takes_an_event_answers_and_settles_it(house: House) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    asked = await house.owner.say(space, "hello")
    event = await scout.take()
    assert set(event) == {"id", "lease", "leaseUntil", "runId", "trigger", "outcome", "context"}
    assert event["trigger"]["type"] == "space_message"
    assert event["trigger"]["messageId"] == asked["id"]
    assert (await house.run(event["runId"]))["status"] == "running"
    sent = await scout.send(event, space, "Hi.")
    assert sent["sender"]["id"] == scout.id
    assert await house.deliveries(asked) == [("Scout", "taken")]
    assert await scout.settle(event) == {"id": event["id"], "runId": event["runId"], "state": "done"}
    assert await house.deliveries(asked) == [("Scout", "done")]
    assert (await house.run(event["runId"]))["status"] == "completed"
    assert house.model.asked == []


async def test_d2_the_context_is_the_timeline_and_moves_the_cursor_when_settled(house: House) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent, triggers="mentioned")
    await house.owner.say(space, "one")
    await house.owner.say(space, "two @Scout", mentions=[scout.id])
    first = await scout.take()
    assert '"one"' in first["context"]
    assert "[NEW] ← TRIGGER" in first["context"]
    await scout.settle(first)
    await house.owner.say(space, "three @Scout", mentions=[scout.id])
    second = await scout.take()
    old = next(line for line in second["context"].splitlines() if '"one"' in line)
    assert "[NEW]" not in old


@pytest.mark.parametrize(
    ("state", "shown", "status"),
    [("done", "done", "completed"), ("passed", "passed", "completed"), ("failed", "failed", "failed")],
)
async def test_d2_an_event_is_settled_as_the_program_says(house: House, state: str, shown: str, status: str) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    asked = await house.owner.say(space, "hello")
    event = await scout.take()
    await scout.settle(event, state, reason="The tests are red.")
    assert await house.deliveries(asked) == [("Scout", shown)]
    run = await house.run(event["runId"])
    assert run["status"] == status
    assert "The tests are red." in str(run)
    # A repeated request changes nothing; a different state is a conflict.
    await scout.settle(event, state)
    for other in {"done", "passed", "failed"} - {state}:
        assert refused(await scout.try_settle(event, other), 409, "lease_ended")
    assert await house.deliveries(asked) == [("Scout", shown)]
    assert await scout.take_all() == []
    notices = [text for _, text in await house.texts(space) if "couldn't answer" in text]
    assert len(notices) == (1 if state == "failed" else 0)


async def test_d2_two_programs_that_poll_together_take_each_event_once(house: House, settings: Settings) -> None:
    scout = await outside(house, limits={"concurrentRuns": 50})
    space = await house.space("Project Alpha", scout.agent)
    async with serve_world(settings.model_copy(update={"workers": 0})) as other:
        there = Program(Person(other.base_url, scout.agent.token, scout.id, "Scout"))
        taken: list[Any] = []

        async def work(program: Program) -> None:
            while len(taken) < 12:
                for event in await program.take_all(1, max=2):
                    taken.append(event)
                    await program.settle(event)

        programs = [scout, scout, there, there]
        async with asyncio.TaskGroup() as group:
            for program in programs:
                group.create_task(work(program))
            for n in range(12):
                await house.owner.say(space, f"message {n}")
        await there.agent.http.aclose()
    assert len({event["id"] for event in taken}) == len(taken) == 12
    assert len({event["runId"] for event in taken}) == 12


async def test_d2_a_poll_waits_for_an_event_and_returns_empty_after_its_time(house: House) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    assert await scout.take_all(0.01) == []
    polls = house.world.gateway.polls
    waiting = asyncio.create_task(scout.take(30))
    await until(lambda: len(polls._woken) == 1)
    asked = await house.owner.say(space, "hello")
    assert (await waiting)["trigger"]["messageId"] == asked["id"]
    assert not polls._woken
    assert not polls._counts


async def test_d2_a_program_that_has_gone_takes_nothing(house: House) -> None:
    """Its event would be held for a minute, and no program would work on it."""
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    polls = house.world.gateway.polls
    with pytest.raises(httpx.ReadTimeout):
        await scout.agent.http.post("/api/inbox/take", json={"waitSeconds": 30}, timeout=0.3)
    await until(lambda: not polls._woken)
    await house.owner.say(space, "hello")
    assert len(await scout.take_all()) == 1


async def test_d2_events_are_given_back_if_the_program_has_gone_meanwhile(house: House) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    await house.owner.say(space, "hello")
    first = await scout.take()
    gateway = house.world.gateway
    caller = Caller(scout.id, "Scout", "agent", "member", "")
    await gateway.db.write(give_back, caller, [first])
    second = await scout.take()
    assert (second["id"], second["runId"]) == (first["id"], first["runId"])
    assert await attempts(house, second) == 1
    # An old lease gives nothing back.
    await gateway.db.write(give_back, caller, [first])
    await scout.settle(second)


async def test_d2_polls_end_when_the_server_stops(house: House, settings: Settings) -> None:
    scout = await outside(house)
    async with serve_world(settings.model_copy(update={"workers": 0})) as other:
        there = Program(Person(other.base_url, scout.agent.token, scout.id, "Scout"))
        waiting = asyncio.create_task(there.take_all(30))
        await until(lambda: len(other.gateway.polls._woken) == 1)
        other.gateway.polls.end()
        assert await waiting == []
        await there.agent.http.aclose()


async def test_d2_an_agent_has_a_limited_number_of_polls(house: House) -> None:
    scout = await outside(house)
    polls = house.world.gateway.polls
    waiting = [asyncio.create_task(scout.take_all(30)) for _ in range(MAX_POLLS)]
    await until(lambda: len(polls._woken) == MAX_POLLS)
    response = await scout.agent.post("/api/inbox/take", {})
    assert refused(response, 429, "too_many_polls")
    for each in waiting:
        each.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await until(lambda: not polls._woken)
    assert await scout.take_all() == []


async def test_d2_as_many_events_as_the_agent_may_have_runs(house: House) -> None:
    scout = await outside(house, limits={"concurrentRuns": 2})
    space = await house.space("Project Alpha", scout.agent)
    for n in range(3):
        await house.owner.say(space, f"message {n}")
    first, second = await scout.take_all(max=20)
    assert await scout.take_all() == []
    await scout.settle(first)
    third = await scout.take()
    for event in (second, third):
        await scout.settle(event)


async def test_d2_events_of_services_and_plans_are_events_too(house: House) -> None:
    scout = await outside(house)
    await house.tell(scout.agent, {"order": 7})
    event = await scout.take()
    assert event["trigger"]["type"] == "service"
    assert event["trigger"]["payload"] == {"order": 7}
    await scout.settle(event, "passed")
    assert (await house.run(event["runId"]))["status"] == "completed"


async def test_d2_nothing_happens_until_a_program_asks(house: House) -> None:
    """No worker takes the event of an outside agent, whatever time passes."""
    scout = await outside(house)
    other = await house.agent("Other")
    space = await house.space("Project Alpha", scout.agent, other)
    await house.owner.say(space, "hello")
    await house.model.until_asked(1)
    assert [asked.agent for asked in house.model.asked] == ["Other"]
    assert await house.runs(scout.agent) == []
    assert len(await scout.take_all()) == 1


@pytest.mark.parametrize("what", ["agent", "space", "gateway"])
async def test_d2_e7_a_paused_agent_is_offered_nothing_and_loses_its_lease(house: House, what: str) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    await house.owner.say(space, "hello")
    event = await scout.take()
    path = {"agent": f"/api/agents/{scout.id}/pause", "space": f"/api/spaces/{space}/pause", "gateway": "/api/pause"}
    await house.owner.ok("POST", path[what])
    response = await scout.try_send(event, space, "Hi.")
    # `lease_ended` once the worker has put the run back.
    assert response.status_code == 409
    assert response.json()["error"]["code"] in ("paused", "lease_ended")
    await until(lambda: _is(house, event["runId"], "queued"))
    assert refused(await scout.try_renew(event), 409, "lease_ended")
    await house.owner.say(space, "and this?")
    assert await scout.take_all(max=20) == []
    await house.owner.ok("DELETE", path[what])
    again = await scout.take()
    assert (again["id"], again["runId"]) == (event["id"], event["runId"])
    assert again["lease"] != event["lease"]
    assert await attempts(house, event) == 1
    assert [text for _, text in await house.texts(space)].count("Hi.") == 0


async def test_d2_a_canceled_run_is_not_the_programs_any_more(house: House) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    await house.owner.say(space, "hello")
    event = await scout.take()
    await house.owner.ok("POST", f"/api/runs/{event['runId']}/cancel")
    assert refused(await scout.try_renew(event), 409, "lease_ended")
    assert refused(await scout.try_send(event, space, "Hi."), 409, "lease_ended")
    assert refused(await scout.try_settle(event), 409, "lease_ended")
    assert await scout.take_all() == []


async def test_d2_an_agent_that_becomes_outside_and_back_loses_no_event(house: House) -> None:
    scout = await house.agent("Scout")
    program = Program(scout)
    space = await house.space("Project Alpha", scout)
    await house.owner.ok("PATCH", f"/api/agents/{scout.id}", {"config": {"mind": "outside"}})
    await house.owner.say(space, "one")
    event = await program.take()
    await program.settle(event)
    await house.owner.say(space, "two")
    await house.owner.ok("PATCH", f"/api/agents/{scout.id}", {"config": {"mind": "timeline"}})
    assert refused(await program.agent.post("/api/inbox/take", {}), 403, "not_outside")
    # Its worker finds the event when it polls.
    await house.model.until_asked(1)
    await house.until_idle()
    assert len(await house.runs(scout)) == 2


async def _is(house: House, run_id: str, status: str) -> bool:
    return bool((await house.run(run_id))["status"] == status)
