"""J1, T6: `absorb_run` takes over everything of the other run, including its attempts and its depth."""

from __future__ import annotations

import pytest

from tests.model_server import Reply, by_agent, call, say, sequence, silent
from tests.runs.house import House

pytestmark = pytest.mark.usefixtures("standing_clock")


async def test_t6_a_run_that_absorbs_another_goes_on_at_the_greater_depth(house: House) -> None:
    """A person asks Guide, Guide asks Scout, and Scout waits at depth 1. An event from outside makes Scout absorb that
    run."""
    scout, guide = await house.agent("Scout"), await house.agent("Guide")
    space = await house.space("Project Alpha", scout, guide, triggers="mentioned")
    asks, waits = say("@Scout which colour?"), say("Which one do you like?", wait=True)
    house.model.script = by_agent({"Guide": [asks, silent()], "Scout": [waits]})
    await house.owner.say(space, "@Guide ask Scout for a colour")
    await house.until_waiting()
    await house.until_idle()
    [waiting] = await house.runs(scout)
    assert waiting["chainDepth"] == 1
    house.model.script = sequence(
        call("absorb_run", runId=waiting["id"]), call("enter_space", spaceId=space), say("Blue."), silent()
    )
    await house.tell(scout)
    await house.until_idle()
    absorbed, absorbing = await house.runs(scout)
    assert (absorbed["status"], absorbing["status"], absorbing["chainDepth"]) == ("canceled", "completed", 1)
    said = (await house.owner.history(space))["messages"][-1]
    assert (said["text"], said["chainDepth"]) == ("Blue.", 2)


async def test_j1_calls_of_failed_tries_are_among_the_actions_of_an_absorbed_run(house: House) -> None:
    house.try_models_once()
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    remembers = call("set_memories", memories=[{"key": "colour", "value": "blue"}])
    house.model.script = sequence(remembers, Reply(status=500), say("Well?", wait=True))
    await house.owner.say(space, "Scout?")
    await house.model.until_asked(2)
    await house.until_idle()
    house.advance(2)
    await house.until_waiting()
    failed, waiting = await house.runs(scout)
    assert failed["status"] == "failed"
    house.model.script = sequence(call("absorb_run", runId=waiting["id"]), silent())
    await house.tell(scout)
    await house.until_idle()
    [result] = house.model.asked[-1].results
    assert [action["tool"] for action in result["actions"]] == ["set_memories", "send_message"]
