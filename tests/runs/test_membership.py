"""A7: membership is checked at the moment of each action. A removed member is out at once, mid-run and mid-stream."""

from __future__ import annotations

import asyncio

from tests.model_server import Asked, Reply, call, say, sequence, silent
from tests.runs.house import House, timeline

LONG = "What I have to say is long, and the end of it must never be read by those who sent me away."


async def test_a7_an_agent_removed_before_it_replies_sends_nothing_and_sees_why(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    gate = asyncio.Event()
    reply = say("too late")
    reply.gate = gate
    house.model.script = sequence(reply, silent())
    await house.owner.say(space, "Scout?")
    await house.model.until_asked(1)
    await house.remove(space, scout)
    gate.set()
    await house.until_idle()
    assert house.model.asked[1].results == [
        {
            "success": False,
            "error": "Nothing was sent: you are no longer a member of the active space. "
            "Enter another one, or end this run.",
        }
    ]
    assert await house.texts(space) == [("Owner", "Scout?")]
    [run] = await house.runs()
    assert run["status"] == "completed"


async def test_a7_an_agent_removed_mid_run_can_neither_read_nor_enter(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)

    async def leaving(asked: Asked) -> Reply:
        await house.remove(space, scout)
        await house.owner.say(space, "now that Scout is gone")
        return call("read_messages")

    house.model.script = sequence(leaving, call("enter_space", spaceId=space), silent())
    await house.owner.say(space, "Scout?")
    await house.until_idle()
    results = house.model.asked[2].results
    assert [result["success"] for result in results] == [False, False]
    assert all("not a member" in result["error"] for result in results)
    assert not any("now that Scout is gone" in asked.text for asked in house.model.asked)


async def test_a7_an_agent_removed_while_it_speaks_falls_silent_at_once(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    reply = say(LONG)
    reply.gate_mid = asyncio.Event()
    house.model.script = sequence(reply, silent())
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Scout?")
        delta = await follower.until("tool-input-delta")
        await house.remove(space, scout)
        ended = await follower.until("tool-call.error", streamId=delta.data["streamId"])
        assert ended.data["error"] == "The agent is no longer a member of this space."
        reply.gate_mid.set()
        await house.until_idle()
        await house.owner.say(space, "quiet now")
        await follower.until_message("quiet now")
        later = follower.seen[follower.seen.index(ended) + 1 :]
        assert not [event for event in later if event.type.startswith("tool-")]
    assert await house.texts(space) == [("Owner", "Scout?"), ("Owner", "quiet now")]


async def test_a7_an_agent_removed_between_two_steps_streams_nothing_more(house: House) -> None:
    """The stream of the next step must not open, although the run is in that space."""
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)

    async def leaving(asked: Asked) -> Reply:
        await house.remove(space, scout)
        return call("get_memories")

    house.model.script = sequence(leaving, say(LONG), silent())
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Scout?")
        await house.until_idle()
        await house.owner.say(space, "quiet now")
        await follower.until_message("quiet now")
        assert not [event for event in follower.seen if event.type.startswith("tool-")]


async def test_a7_a_pending_message_is_not_delivered_to_a_removed_agent(house: House) -> None:
    scout = await house.agent("Scout", limits={"concurrentRuns": 1})
    busy, space = await house.space("Busy", scout), await house.space("Project Alpha", scout)
    reply = silent()
    reply.gate = asyncio.Event()
    house.model.script = sequence(reply)
    await house.owner.say(busy, "keep Scout busy")
    await house.model.until_asked(1)
    message = await house.owner.say(space, "a secret for members")
    await house.remove(space, scout)
    reply.gate.set()
    await house.until_idle()
    assert len(house.model.asked) == 1
    assert len(await house.runs()) == 1
    assert await house.deliveries(message) == [("Scout", "passed")]


async def test_a7_an_agent_removed_while_it_waits_gets_no_answer_from_that_space(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(say("Well?", wait=True), say("Hello?"), silent())
    await house.owner.say(space, "Scout?")
    await house.until_waiting()
    await house.remove(space, scout)
    message = await house.owner.say(space, "a secret for members")
    await house.until_idle()
    assert await house.deliveries(message) == []
    [run] = await house.runs()
    assert run["status"] == "waiting_reply"
    house.advance(300)
    await house.model.until_asked(3)
    await house.until_idle()
    resumed = house.model.asked[1]
    assert "a secret for members" not in resumed.text
    assert "ACTIVE SPACE: none" in resumed.text
    assert timeline(resumed)[-1].startswith("← RESUME: timeout")
    assert await house.texts(space) == [("Owner", "Scout?"), ("Scout", "Well?"), ("Owner", "a secret for members")]


async def test_a7_an_agent_removed_after_it_was_answered_does_not_read_the_answer(house: House) -> None:
    """Its run is queued behind another one when it is removed."""
    scout = await house.agent("Scout", limits={"concurrentRuns": 1})
    busy, space = await house.space("Busy", scout), await house.space("Project Alpha", scout)
    blocking = silent()
    blocking.gate = asyncio.Event()
    house.model.script = sequence(say("Well?", wait=True), blocking, silent())
    await house.owner.say(space, "Scout?")
    await house.until_waiting()
    await house.owner.say(busy, "keep Scout busy")
    await house.model.until_asked(2)
    await house.owner.say(space, "a secret answer")
    await house.remove(space, scout)
    blocking.gate.set()
    await house.until_idle()
    assert len(house.model.asked) == 3
    assert "a secret answer" not in house.model.asked[2].text


async def test_a7_a_removed_person_no_longer_sees_the_run(house: House) -> None:
    scout, sara = await house.agent("Scout"), await house.person("Sara")
    space = await house.space("Project Alpha", scout, sara)
    await house.owner.say(space, "hello")
    await house.until_idle()
    [run] = await house.runs()
    assert (await sara.get(f"/api/runs/{run['id']}")).status_code == 200
    await house.remove(space, sara)
    for path in ("", "/steps", "/context"):
        assert (await sara.get(f"/api/runs/{run['id']}{path}")).status_code == 404
    assert (await sara.post(f"/api/runs/{run['id']}/cancel")).status_code == 404


async def test_a7_a_visible_tool_shows_no_result_to_a_space_that_its_agent_has_left(house: House) -> None:
    tool = {"name": "advise", "type": "static", "visible": True, "execution": {"output": "sleep on it"}}
    scout = await house.agent("Scout", tools=[tool])
    space = await house.space("Project Alpha", scout)

    async def leaving(asked: Asked) -> Reply:
        await house.remove(space, scout)
        return call("advise")

    house.model.script = sequence(leaving, silent())
    await house.owner.say(space, "Scout?")
    await house.until_idle()
    assert await house.texts(space) == [("Owner", "Scout?")]
    [result] = house.model.asked[1].results
    assert result["success"] is False
    [run] = await house.runs()
    assert run["status"] == "completed"
