"""A run times out while one of its calls commits: the commit counts, and the run's end reflects it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.conditions import until
from tests.model_server import Reply, call, say, silent
from tests.runs.house import House
from tests.runs.space_lock import space_locked

# Enough time for a busy machine to reach the call.
SECONDS = 2
DEPLOY: dict[str, Any] = {
    "name": "deploy",
    "description": "Deploys the site.",
    "inputSchema": {"type": "object"},
    "type": "static",
    "visible": True,
    "execution": {"output": {"deployed": True}},
}


async def out_of_time(house: House, reply: Reply, **config: Any) -> tuple[str, Any, Any]:
    """The space, the message and the run that timed out while the call of the reply was being committed."""
    scout = await house.agent("Scout", limits={"runSeconds": SECONDS}, **config)
    space = await house.space("Project Alpha", scout)
    reply.gate = asyncio.Event()
    house.model.script = lambda asked: reply if asked.n == 0 else silent()
    message = await house.owner.say(space, "Scout?")
    await house.model.until_asked(1)
    [run] = await house.runs()
    [working] = [task for task in asyncio.all_tasks() if task.get_name() == run["id"]]
    async with space_locked(house.world.gateway.db, space):
        reply.gate.set()
        await until(working.cancelling)
    await house.until_idle()
    return space, message, await house.run(run["id"])


@pytest.mark.parametrize("mind", ["timeline", "roles"])
async def test_t12_a_limit_that_strikes_while_a_message_is_committed_leaves_its_trigger_answered(
    house: House, mind: str
) -> None:
    space, message, run = await out_of_time(house, say("Here."), mind=mind)
    assert (run["status"], run["reason"]) == ("completed", "limit")
    assert await house.texts(space) == [("Owner", "Scout?"), ("Scout", "Here.")]
    assert await house.deliveries(message) == [("Scout", "done")]


async def test_j6_a_limit_that_strikes_while_a_run_pauses_leaves_it_waiting(house: House) -> None:
    _, message, run = await out_of_time(house, say("Well?", wait=True))
    assert (run["status"], run["reason"]) == ("waiting_reply", None)
    assert await house.deliveries(message) == [("Scout", "taken")]


async def test_t12_a_limit_that_strikes_while_a_visible_call_is_begun_counts_what_was_shown(house: House) -> None:
    space, message, run = await out_of_time(house, call("deploy"), tools=[DEPLOY])
    assert (run["status"], run["reason"]) == ("completed", "limit")
    [_, shown] = (await house.owner.history(space))["messages"]
    assert (shown["kind"], shown["tool"]["status"]) == ("tool", "error")
    assert await house.deliveries(message) == [("Scout", "done")]
