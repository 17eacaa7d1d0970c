"""J2 on a machine that was suspended: a live worker keeps its runs, whatever the clock says."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import sqlalchemy as sa

from majlis import clock
from majlis.runs.claim.lease import RUN_LEASE_MILLIS
from majlis.runs.end.cancel import ENDED
from majlis.settings import Settings
from majlis.store.tables import runs
from majlis.store.transactions import Tx
from tests.conditions import until
from tests.model_server import ModelServer, by_agent, call, say, sequence, silent
from tests.runs.house import House
from tests.world import serve_world


async def test_j2_a_worker_does_not_take_over_the_run_that_it_is_working_on(house: House) -> None:
    """A laptop that was closed for a minute: all leases have expired, and no worker has died."""
    space = await house.space("Project Alpha", await house.agent("Scout"))
    slow = say("Here I am.")
    slow.gate = asyncio.Event()
    house.model.script = sequence(slow, silent())
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Scout?")
        await house.model.until_asked(1)
        house.advance(60)
        # A reply to another message shows that the worker has looked for work since.
        other = await house.space("Project Beta", await house.agent("Other"))
        await house.owner.say(other, "hello")
        await house.model.until_asked(2)
        slow.gate.set()
        await follower.until_message("Here I am.")
        await follower.until("run.completed")
    await house.until_idle()
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


async def test_t8_a_queue_is_not_forgotten_when_the_agents_limit_is_used_up_elsewhere(settings: Settings) -> None:
    """The second worker gets no wake-up when the first one's run ends: it has to poll."""
    async with ModelServer() as model, AsyncExitStack() as second_server:
        slow = silent()
        slow.gate = asyncio.Event()
        model.script = by_agent({"Scout": [slow]})
        async with serve_world(settings) as first_world:
            first = House(first_world, model)
            space = await first.space("Project Alpha", await first.agent("Scout", limits={"concurrentRuns": 1}))
            other = await first.space("Project Beta", await first.agent("Other"))
            await first.owner.say(space, "one")
            await model.until_asked(1)
            second = House(await second_server.enter_async_context(serve_world(settings)), model)
            await second.owner.say(space, "two")
            # When this run is active, the second worker has also looked at Scout's queue.
            await second.owner.say(other, "hello")
            await model.until_asked(2)
            slow.gate.set()
        await model.until_asked(3)
        await second.until_idle()
        assert [asked.trigger_text for asked in second.invocations("Scout")] == ["one", "two"]


async def test_j2_a_lease_is_renewed_by_the_time_that_has_passed(house: House) -> None:
    """Not by the number of polls: on a busy database ten of them may take longer than a lease."""
    space = await house.space("Project Alpha", await house.agent("Scout"))
    slow = silent()
    slow.gate = asyncio.Event()
    house.model.script = sequence(slow)
    await house.owner.say(space, "Scout?")
    await house.model.until_asked(1)
    clock.stand_still()
    clock.advance(20_000)
    await until(lambda: house.world.gateway.db.read(_is_leased_anew))
    slow.gate.set()


def _is_leased_anew(tx: Tx) -> bool:
    until_then: int = tx.execute(sa.select(runs.c.lease_until)).scalar_one()
    return until_then >= clock.now() + RUN_LEASE_MILLIS


async def test_j2_a_worker_notices_that_its_run_was_taken_over_and_ended_meanwhile(house: House) -> None:
    """It was presumed dead and woke up while streaming: people saw a run that had ended continue."""
    space = await house.space("Project Alpha", await house.agent("Scout"))
    slow = say("What I am saying here was said by somebody else.")
    slow.gate_mid = asyncio.Event()
    house.model.script = sequence(slow)
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Scout?")
        start = await follower.until("tool-call.start")
        ended = {"status": "completed", "fence": runs.c.fence + 1, "lease_owner": None, "ended_at": clock.now()}
        await house.world.gateway.db.write(Tx.execute, runs.update().values(ended))
        await house.model.until_open(0)
        await follower.until("tool-call.error", streamId=start.data["streamId"])


async def test_j3_a_run_that_is_canceled_before_it_could_begin_takes_up_no_place(house: House) -> None:
    """Canceled at the moment of its claim, its task never ran, and it stayed in the list of runs."""
    bus, worker = house.world.gateway.bus, house.world.gateway.worker
    assert worker is not None
    made: list[asyncio.Task[Any]] = []
    loop = asyncio.get_running_loop()

    def cancel_at_once(loop: asyncio.AbstractEventLoop, work: Any, **more: Any) -> asyncio.Task[Any]:
        """The cancel is in the loop's queue before the run's first step."""
        begun = work.cr_frame.f_locals.get("loop") if work.__qualname__ == "Worker._execute" else None
        if begun is not None:
            loop.call_soon(bus.publish, ENDED, begun.run.id.encode())
        task: asyncio.Task[Any] = asyncio.Task(work, loop=loop, **more)
        made.extend([task] if begun is not None else [])
        return task

    space = await house.space("Project Alpha", await house.agent("Scout"))
    loop.set_task_factory(cancel_at_once)
    try:
        await house.owner.say(space, "Scout?")
        await until(lambda: bool(made))
        await asyncio.wait(made)
    finally:
        loop.set_task_factory(None)
    assert made[0].cancelled()
    assert worker.active == 0
