"""J2: a worker that was paused beyond its lease can change nothing when it wakes.

It is stopped with SIGSTOP during its work, its lease expires, and another worker takes over the run and ends it. The
first worker does not check its leases here, so only the fence holds it back.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from majlis.settings import Settings
from majlis.store.tables import runs
from tests.acceptance.effect_tools import effects_in, python_tool
from tests.acceptance.ledger import Ledger
from tests.acceptance.workers import EAGER_MILLIS, NEVER_MILLIS, WorkerProcess, Workers
from tests.conditions import until
from tests.model_server import Asked, ModelServer, Reply, call, say, silent
from tests.world import World, serve_world


@pytest.fixture
async def world(workers: Workers) -> AsyncIterator[World]:
    async with serve_world(Settings.model_validate(workers.settings(workers=0))) as served:
        yield served


async def take_over(workers: Workers, ledger: Ledger) -> None:
    """Expires the lease at once instead of after 30 s."""
    await ledger.execute(runs.update().values(lease_until=1))
    await workers.start(poll_millis=EAGER_MILLIS)


async def wake(sleeper: WorkerProcess) -> None:
    """Waits until the woken worker has tried its write."""
    sleeper.go_on()
    while (await sleeper.report()).runs:
        pass


@pytest.mark.parametrize("heir", ["at work", "done"])
async def test_j2_a_worker_that_slept_through_a_model_request_sends_nothing(
    workers: Workers, world: World, model: ModelServer, heir: str
) -> None:
    gates = [asyncio.Event(), asyncio.Event()]

    def script(asked: Asked) -> Reply:
        if asked.n > 1:
            return silent()
        reply = say(("from the sleeper", "from the heir")[asked.n])
        reply.gate = gates[asked.n]
        return reply

    model.script = script
    ledger = Ledger(world.gateway.db)
    agent = await world.agent("Scout", model=model.model)
    space = await world.owner.create_space("Project Alpha", agent)
    await world.owner.say(space, "Anybody there?")
    sleeper = await workers.start(poll_millis=NEVER_MILLIS)
    await model.until_asked(1)
    await ledger.stop_between_writes(sleeper)
    await take_over(workers, ledger)
    await model.until_asked(2)
    if heir == "done":
        gates[1].set()
        await ledger.until_statuses("completed")
    before = await ledger.everything(space)
    gates[0].set()
    await model.until_open(0 if heir == "done" else 1)
    await wake(sleeper)
    assert await ledger.everything(space) == before
    gates[1].set()
    await ledger.until_statuses("completed")
    assert await ledger.texts(space) == ["Anybody there?", "from the heir"]
    assert len(model.asked) == 3


@pytest.mark.parametrize("tool", ["charge", "stamp"])
async def test_j2_a_worker_that_slept_in_a_tool_journals_nothing(
    workers: Workers, world: World, model: ModelServer, tool: str, tmp_path: Path
) -> None:
    """The idempotent tool is repeated with the same key. The outcome of the other one stays unknown, although the
    paused worker would know it now: the run has already ended."""

    def script(asked: Asked) -> Reply:
        if f"called {tool}(" in asked.text:
            return silent() if asked.step else say("It is done." if "receipt" in asked.text else "I cannot know.")
        return call(tool, order="o-1") if asked.step == 0 else say("from the sleeper")

    model.script = script
    ledger = Ledger(world.gateway.db)
    agent = await world.agent("Clerk", model=model.model, tools=[python_tool(tool, idempotent=tool == "stamp")])
    space = await world.owner.create_space("Project Alpha", agent)
    await world.owner.say(space, "Please handle o-1.")
    os.mkfifo(tmp_path / "gate")
    gate = os.open(tmp_path / "gate", os.O_RDWR)
    sleeper = await workers.start(poll_millis=NEVER_MILLIS, tool_gate=str(tmp_path / "gate"))
    await until(lambda: effects_in(tmp_path / "effects"))
    await ledger.stop_between_writes(sleeper)
    await take_over(workers, ledger)
    await ledger.until_statuses("completed")
    before = await ledger.everything(space)
    os.write(gate, b"!")
    await wake(sleeper)
    os.close(gate)
    assert await ledger.everything(space) == before
    answer = "It is done." if tool == "stamp" else "I cannot know."
    assert await ledger.texts(space) == ["Please handle o-1.", answer]
    effects = effects_in(tmp_path / "effects")
    assert len(effects) == (2 if tool == "stamp" else 1)
    assert len(set(effects)) == 1
    [run] = await ledger.runs(space)
    [made] = [step for step in await ledger.steps(run["id"]) if step["name"] == tool]
    assert made["state"] == ("done" if tool == "stamp" else "started")
