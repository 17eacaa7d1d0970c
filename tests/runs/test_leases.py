"""Behaviour J2 for a machine that slept: a worker that is alive goes on with its own runs, whatever the clock says."""

from __future__ import annotations

import asyncio

from tests.model_server import call, say, sequence, silent
from tests.runs.house import House


async def test_j2_a_worker_does_not_take_over_the_run_that_it_is_working_on(house: House) -> None:
    """A laptop that was closed for a minute: every lease is over, and nobody has died."""
    space = await house.space("Project Alpha", await house.agent("Scout"))
    slow = say("Here I am.")
    slow.gate = asyncio.Event()
    house.model.script = sequence(slow, silent())
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Scout?")
        await house.model.until_asked(1)
        house.advance(60)
        # A message that is answered meanwhile shows that the worker has looked for work since.
        other = await house.space("Project Beta", await house.agent("Other"))
        await house.owner.say(other, "hello")
        await house.model.until_asked(2)
        slow.gate.set()
        await follower.until_message("Here I am.")
        await follower.until("run.completed")
    await house.quiet()
    [run] = await house.runs(spaceId=space)
    assert (run["status"], run["attempts"], len(house.asked("Scout"))) == ("completed", 1, 2)
    assert "run.resumed" not in [event.type for event in follower.seen]
    worker = house.world.gateway.worker
    assert worker is not None
    assert worker.active == 0


async def test_j2_a_run_can_be_canceled_after_the_machine_slept(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    slow = call("get_memories")
    slow.gate_mid = asyncio.Event()
    house.model.script = sequence(slow)
    await house.owner.say(space, "Scout?")
    await house.model.until_asked(1)
    house.advance(60)
    [run] = await house.runs()
    await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
    await house.model.until_open(0)
