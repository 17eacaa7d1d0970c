"""Behaviours T: who is triggered by what, once."""

from __future__ import annotations

from tests.model_server import by_agent, say, sequence, silent
from tests.runs.house import House


async def test_t1_a_persons_message_makes_one_run_of_the_only_agent(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(say("Here I am."), silent())
    message = await house.owner.say(space, "Scout, are you there?")
    await house.quiet()
    [run] = await house.runs()
    assert (run["status"], run["chainDepth"], run["agentId"]) == ("completed", 0, scout.id)
    assert run["trigger"]["type"] == "space_message"
    assert run["trigger"]["messageId"] == message["id"]
    assert await house.texts(space) == [("Owner", "Scout, are you there?"), ("Scout", "Here I am.")]


async def test_t9_an_agent_with_nothing_to_say_ends_its_run_silently(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = by_agent({"Scout": silent("nothing for me")})
    message = await house.owner.say(space, "hello")
    await house.quiet()
    [run] = await house.runs()
    assert run["status"] == "completed"
    assert await house.texts(space) == [("Owner", "hello")]
    deliveries = await house.owner.ok("GET", f"/api/messages/{message['id']}/deliveries")
    assert [(each["agentId"], each["state"]) for each in deliveries] == [(scout.id, "passed")]
