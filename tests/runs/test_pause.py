"""E7: an agent, the agents of a space, or all agents are paused at once; nothing is lost."""

from __future__ import annotations

import asyncio

import pytest

from majlis.runs.claim.claim import claim
from majlis.runs.worker import tick
from majlis.settings import Settings
from tests.conditions import until
from tests.model_server import call, say, sequence, silent
from tests.runs.cycles import conscious, each_cycle, inbox
from tests.runs.house import House, says
from tests.world import serve_world

pytestmark = pytest.mark.usefixtures("standing_clock")


def pause_path(agent: str, space: str, what: str) -> str:
    return {"agent": f"/api/agents/{agent}/pause", "space": f"/api/spaces/{space}/pause", "gateway": "/api/pause"}[what]


@pytest.mark.parametrize("what", ["agent", "space", "gateway"])
async def test_e7_a_running_stream_stops_and_the_run_continues_after_the_pause(house: House, what: str) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    held = asyncio.Event()
    writing = say("This is a long answer that is never finished.")
    writing.gate_mid = held
    house.model.script = lambda _: writing
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "hello")
        await follower.until("tool-input-delta")
        path = pause_path(scout.id, space, what)
        assert await house.owner.ok("POST", path) == {"paused": True}
        # Its unfinished text is withdrawn, and the request is gone.
        await follower.until("tool-call.error")
        await house.model.until_open(0)
    held.set()
    [run] = await house.runs(scout)
    await until(lambda: _is(house, run["id"], "queued"))
    # A new message is delivered, but starts nothing.
    said = await house.owner.say(space, "still there?")
    assert await house.deliveries(said) == [("Scout", "pending")]
    house.model.script = says("Here I am.")
    await nothing_starts(house)
    assert [text for _, text in await house.texts(space)] == ["hello", "still there?"]
    assert await house.owner.ok("DELETE", path) == {"paused": False}
    await house.until_idle()
    runs = await house.runs(scout)
    assert [(run["status"], run["attempts"]) for run in runs] == [("completed", 1)] * 2
    assert await house.deliveries(said) == [("Scout", "done")]
    assert (await house.texts(space))[2:] == [("Scout", "Here I am.")] * 2


async def test_e7_an_answer_that_arrives_in_the_pause_resumes_the_run_afterwards(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(say("Red or blue?", wait=True), say("Blue it is."), silent())
    await house.owner.say(space, "Choose")
    await house.until_waiting()
    await house.owner.ok("POST", f"/api/agents/{scout.id}/pause")
    answer = await house.owner.say(space, "Blue")
    [run] = await house.runs(scout)
    assert run["status"] == "queued"
    assert await house.deliveries(answer) == [("Scout", "taken")]
    await nothing_starts(house)
    assert len(house.model.asked) == 1
    await house.owner.ok("DELETE", f"/api/agents/{scout.id}/pause")
    await house.until_idle()
    assert (await house.texts(space))[-1] == ("Scout", "Blue it is.")
    assert [run["status"] for run in await house.runs(scout)] == ["completed"]


async def test_e7_a_deadline_in_the_pause_is_recorded_and_starts_nothing(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(say("Red or blue?", wait=True), say("Then red."), silent())
    await house.owner.say(space, "Choose")
    await house.until_waiting()
    await house.owner.ok("POST", f"/api/spaces/{space}/pause")
    house.advance(301)
    [run] = await house.runs(scout)
    await until(lambda: _is(house, run["id"], "queued"))
    await nothing_starts(house)
    assert len(house.model.asked) == 1
    await house.owner.ok("DELETE", f"/api/spaces/{space}/pause")
    await house.until_idle()
    assert (await house.texts(space))[-1] == ("Scout", "Then red.")


async def test_e7_agents_cannot_send_into_a_paused_space_and_people_can(house: House) -> None:
    scout = await house.agent("Scout")
    here, there = await house.space("Here", scout), await house.space("There", scout)
    await house.owner.ok("POST", f"/api/spaces/{there}/pause")
    assert (await house.owner.space(there))["paused"]
    house.model.script = sequence(call("enter_space", spaceId=there), say("Hello there."), silent())
    await house.owner.say(here, "Greet them")
    await house.until_idle()
    [_, result] = house.model.asked[-1].results
    assert (result["success"], "paused" in result["error"]) == (False, True)
    refused = await scout.post(f"/api/spaces/{there}/messages", {"text": "By token."})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "paused")
    await house.owner.say(there, "I may.")
    assert [name for name, _ in await house.texts(there)] == ["Owner"]


async def test_e7_a_cycle_leaves_out_the_events_of_a_paused_space(house: House) -> None:
    scout = await conscious(house)
    here, there = await house.space("Here", scout), await house.space("There", scout)
    await house.owner.ok("POST", f"/api/spaces/{there}/pause")
    house.model.script = each_cycle()
    kept = await house.owner.say(there, "for later")
    await house.owner.say(here, "for now")
    await until(lambda: _completed(house, 1))
    await nothing_starts(house)
    [line] = inbox(house.model.asked[0])
    assert "for now" in line
    assert await house.deliveries(kept) == [("Scout", "pending")]
    await house.owner.ok("DELETE", f"/api/spaces/{there}/pause")
    await house.until_idle()
    assert "for later" in inbox(house.model.asked[-1])[0]


async def test_e7_a_plan_that_is_due_several_times_in_the_pause_fires_once_afterwards(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    plan = {"name": "Look", "instruction": "Look.", "cron": "* * * * *"}
    house.model.script = sequence(call("set_plans", plans=[plan]), silent())
    await house.owner.say(space, "Look every minute")
    await house.until_idle()
    await house.owner.ok("POST", "/api/pause")
    for _ in range(3):
        house.advance(60)
        await nothing_starts(house)
    assert len(await house.runs(scout)) == 1
    await house.owner.ok("DELETE", "/api/pause")
    house.world.gateway.worker.poll_soon()  # type: ignore[union-attr]
    await house.model.until_asked(3)
    await house.until_idle()
    assert len(await house.runs(scout)) == 2


async def test_e7_admins_pause_and_members_read_that_they_may_not(house: House) -> None:
    scout, sara = await house.agent("Scout"), await house.person("Sara")
    space = await house.space("Project Alpha", scout, sara)
    for path in (f"/api/agents/{scout.id}/pause", f"/api/spaces/{space}/pause", "/api/pause"):
        assert (await sara.post(path)).status_code == 403
    hers = await sara.create_space("Hers", scout)
    assert (await sara.post(f"/api/spaces/{hers}/pause")).json() == {"paused": True}
    # An admin of the gateway is not a member there, and may resume its agents without reading it.
    assert (await house.owner.delete(f"/api/spaces/{hers}/pause")).json() == {"paused": False}
    assert (await sara.get("/api/pause")).json() == {"paused": False}
    assert (await house.owner.post("/api/agents/ent_0000000000000001/pause")).status_code == 404
    assert (await house.owner.post("/api/spaces/spc_0000000000000001/pause")).status_code == 404


async def test_e7_members_see_that_an_agent_is_paused(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    async with house.owner.follow(space) as follower:
        for _ in range(2):
            await house.owner.ok("POST", f"/api/agents/{scout.id}/pause")
        await follower.until("agent.paused", agentId=scout.id)
        assert (await house.owner.ok("GET", f"/api/agents/{scout.id}"))["paused"]
        await house.owner.ok("DELETE", f"/api/agents/{scout.id}/pause")
        await follower.until("agent.unpaused")
    assert not (await house.owner.ok("GET", f"/api/agents/{scout.id}"))["paused"]


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_e7_a_pause_on_one_node_stops_a_stream_on_another(house: House, settings: Settings) -> None:
    """Without a bus between them: the other node notices when it looks."""
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    writing = say("This is a long answer that is never finished.")
    writing.gate_mid = asyncio.Event()
    house.model.script = lambda _: writing
    await house.owner.say(space, "hello")
    await house.model.until_asked(1)
    async with serve_world(settings.model_copy(update={"workers": 0})) as other:
        await other.owner.ok("POST", f"/api/agents/{scout.id}/pause")
        await house.model.until_open(0)
    [run] = await house.runs(scout)
    await until(lambda: _is(house, run["id"], "queued"))


async def nothing_starts(house: House) -> None:
    """Whatever is due is recorded, and a worker with free slots finds no run to start or resume."""
    db = house.world.gateway.db
    await db.write(tick)
    claimed = await db.write(claim, "a worker", 10, (), ())
    assert claimed.runs == []


async def _completed(house: House, count: int) -> bool:
    return len(await house.runs(status="completed")) == count


async def _is(house: House, run_id: str, status: str) -> bool:
    return bool((await house.run(run_id))["status"] == status)
