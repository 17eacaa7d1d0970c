"""J2, J4: a worker crashes between a person's approval and the call, or during the call. An approved call is made once,
and a call whose outcome is unknown is not repeated."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from majlis.settings import Settings
from tests.acceptance.effect_tools import effects_in, python_tool
from tests.acceptance.ledger import Ledger
from tests.acceptance.workers import EAGER_MILLIS, Workers
from tests.conditions import until
from tests.model_server import Asked, ModelServer, Reply, call, say, silent
from tests.world import Person, World, serve_world

LAST = "Charged."
NEVER = 10_000
# Where the worker crashes after the approval: the state in the journal, and the number of effects.
DEATHS = {
    "start_approved: before its commit": ("done", 1),
    "start_approved: after its commit": ("started", 0),
    "charge: after its effect": ("started", 1),
    "finish_call: after its commit": ("done", 1),
}


def clerk(asked: Asked) -> Reply:
    if "called charge(" not in asked.text:
        return call("charge", order="o-1")
    return silent() if asked.step else say(LAST)


@pytest.fixture
async def world(workers: Workers, model: ModelServer) -> AsyncIterator[World]:
    """People speak through a gateway without workers."""
    model.script = clerk
    async with serve_world(Settings.model_validate(workers.settings(workers=0))) as served:
        yield served


async def approved(workers: Workers, world: World, agent: Person, name: str) -> str:
    """A space in which a call was approved while no worker was running."""
    ledger = Ledger(world.gateway.db)
    space = await world.owner.create_space(name, agent)
    await world.owner.say(space, "Please charge o-1.")
    (workers.folder / name).mkdir()
    worker = await workers.start(workers.folder / name, poll_millis=EAGER_MILLIS)
    await ledger.until_statuses("waiting_tool", space=space)
    worker.kill()
    await worker.until_gone()
    [card] = await world.owner.ok("GET", "/api/tool-calls", spaceId=space)
    assert effects_in(workers.folder / name / "effects") == []
    body = {"toolCallId": card["toolCallId"], "result": {"approved": True}}
    await world.owner.ok("POST", f"/api/runs/{card['runId']}/tool-results", body)
    return space


async def work(workers: Workers, world: World, space: str, name: str, die_at: int = NEVER) -> list[str]:
    """The crash points that a worker passes until it crashes or the run ends."""
    places = workers.folder / name / "places"
    worker = await workers.start(workers.folder / name, poll_millis=EAGER_MILLIS, die_at=die_at)
    if die_at != NEVER:
        await worker.until_gone()
    else:
        await Ledger(world.gateway.db).until_statuses("completed", space=space)
        await until(lambda: places.read_text().splitlines()[-1] == "complete: after its commit")
        worker.kill()
        await worker.until_gone()
    return places.read_text().splitlines()


async def test_j2_an_approved_call_is_made_once_wherever_its_worker_crashes(
    workers: Workers, world: World, model: ModelServer
) -> None:
    policy = [{"tools": "charge", "do": "ask"}]
    agent = await world.agent("Clerk", model=model.model, tools=[python_tool("charge")], policy=policy)
    space = await approved(workers, world, agent, "alive")
    passed = await work(workers, world, space, "alive")
    assert [name for name, _ in effects_in(workers.folder / "alive" / "effects")] == ["charge"]
    for n, (place, (state, effects)) in enumerate(DEATHS.items()):
        name = f"death {n}"
        space = await approved(workers, world, agent, name)
        died = await work(workers, world, space, name, die_at=passed.index(place) + 1)
        assert died[-1] == place
        await work(workers, world, space, name)
        ledger = Ledger(world.gateway.db)
        [run] = await ledger.runs(space)
        steps = [step for step in await ledger.steps(run["id"]) if step["name"] == "charge"]
        assert [step["state"] for step in steps] == [state], place
        made = effects_in(workers.folder / name / "effects")
        assert made == [("charge", f"{run['id']}:{steps[0]['n']}")] * effects, place
        assert (await ledger.texts(space))[-1] == LAST
        shown = model.asked[-1].text
        assert ("outcome unknown" in shown) is (state == "started"), place
