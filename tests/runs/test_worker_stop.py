"""A worker that stops gives its runs a moment to finish, and still reacts to events about them."""

from __future__ import annotations

import asyncio

from tests.model_server import say, sequence
from tests.runs.house import House


async def test_a7_an_agent_that_is_removed_while_its_worker_stops_falls_silent_at_once(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    stuck = say("This will never be said to its end.")
    stuck.gate_mid = asyncio.Event()
    house.model.script = sequence(stuck)
    worker = house.world.gateway.worker
    assert worker is not None
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Scout?")
        delta = await follower.until("tool-input-delta")
        stopping = asyncio.create_task(worker.stop())
        await house.remove(space, scout)
        ended = await follower.until("tool-call.error", streamId=delta.data["streamId"])
    assert ended.data["error"] == "The agent is no longer a member of this space."
    stuck.gate_mid.set()
    await stopping
