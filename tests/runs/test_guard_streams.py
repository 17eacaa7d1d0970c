"""E8: people do not see a message that is held while it is written."""

from __future__ import annotations

import asyncio

import pytest

from tests.model_server import Asked, Reply, call, say, silent
from tests.runs.house import House
from tests.runs.test_guard import composing, held

LONG = "a text that is long enough for several pieces, " * 4


@pytest.mark.parametrize("speak", ["tool", "text"])
async def test_e8_a_stream_that_becomes_stale_is_withdrawn_at_once(house: House, speak: str) -> None:
    scout = await house.agent("Scout", limits={"concurrentRuns": 1}, speak=speak)
    space = await house.space("Project Alpha", scout)
    gate = asyncio.Event()

    def script(asked: Asked) -> Reply:
        if asked.trigger_text != "Which colour?" or (asked.step and not held(asked)):
            return silent()
        first = len(house.model.asked) == 1
        text = LONG if first else "Blue, then."
        reply = say(text) if speak == "tool" else silent(text)
        reply.gate_mid = gate if first else None
        return reply

    house.model.script = script
    async with house.owner.follow(space) as follower:
        await composing(house, space)
        start = await follower.until("tool-call.start")
        await follower.until("tool-input-delta", streamId=start.data["streamId"])
        await house.owner.say(space, "Not red, please.")
        # Before the model has finished its answer.
        await follower.until("tool-call.error", streamId=start.data["streamId"])
        gate.set()
        second = await follower.until("tool-call.start")
        stored = await follower.until_message("Blue, then.")
        assert stored.data["streamId"] == second.data["streamId"] != start.data["streamId"]
        seen = [event for event in follower.seen if event.data.get("streamId") == start.data["streamId"]]
        assert seen[-1].type == "tool-call.error"
    await house.until_idle()


async def test_e8_a_message_that_is_stale_before_it_begins_is_not_streamed(house: House) -> None:
    scout, other = await house.agent("Scout", limits={"concurrentRuns": 1}), await house.agent("Other")
    space = await house.space("Project Alpha", scout, other)
    gate = asyncio.Event()

    async def script(asked: Asked) -> Reply:
        if asked.trigger_text != "Which colour?" or (asked.step and not held(asked)):
            return silent()
        if asked.agent == "Other":
            return say("I like red.") if asked.step == 0 else silent()
        if asked.step == 0:
            await gate.wait()
        return say("Blue.") if held(asked) else say(LONG)

    house.model.script = script
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Which colour?")
        await follower.until_message("I like red.")
        await house.owner.say(space, "Me too.")
        gate.set()
        stored = await follower.until_message("Blue.")
        starts = [event for event in follower.seen if event.type == "tool-call.start"]
        scouts = [event.data["streamId"] for event in starts if event.data["agentId"] == scout.id]
        assert scouts == [stored.data["streamId"]]
    await house.until_idle()


async def test_e8_another_cause_does_not_withdraw_a_stream(house: House) -> None:
    scout, other = await house.agent("Scout"), await house.agent("Other")
    space = await house.space("Project Alpha", scout, other, triggers="mentioned")
    gate = asyncio.Event()

    def script(asked: Asked) -> Reply:
        if asked.agent == "Other":
            steps = [call("enter_space", spaceId=space), say("Something else.")]
            return steps[asked.step] if asked.step < 2 else silent()
        if asked.step:
            return silent()
        reply = say(LONG)
        reply.gate_mid = gate
        return reply

    house.model.script = script
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "@Scout go")
        start = await follower.until("tool-call.start")
        await house.tell(other, {"order": 1})
        await follower.until_message("Something else.")
        gate.set()
        stored = await follower.until_message(LONG)
        assert stored.data["streamId"] == start.data["streamId"]
    await house.until_idle()
