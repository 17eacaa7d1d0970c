"""G1: a run that kills its worker is found and fails, and the runs beside it do not fail with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import pytest

from majlis.settings import Settings
from tests.acceptance.effect_tools import python_tool
from tests.acceptance.ledger import Ledger
from tests.acceptance.workers import EAGER_MILLIS, WorkerProcess, Workers
from tests.conditions import until
from tests.model_server import Asked, ModelServer, Reply, call, calls, say, silent
from tests.runs.cycles import inbox, step
from tests.world import World, serve_world

INNOCENT = ("Ann", "Ben", "Cleo")


@pytest.fixture
async def world(workers: Workers) -> AsyncIterator[World]:
    """People speak through a gateway without workers."""
    async with serve_world(Settings.model_validate(workers.settings(workers=0))) as world:
        yield world


async def crash(workers: Workers) -> WorkerProcess:
    worker = await workers.start(poll_millis=EAGER_MILLIS)
    await worker.until_gone()
    return worker


async def test_g1_a_deadly_run_fails_alone_and_its_neighbours_answer_once(
    workers: Workers, model: ModelServer, world: World
) -> None:
    released = asyncio.Event()

    def script(asked: Asked) -> Reply:
        if asked.agent == "Doom":
            return Reply(calls=call("explode", order="o-1").calls, gate=all_asked)
        return Reply(calls=say("Here.").calls, gate=released) if asked.step == 0 else silent()

    all_asked = asyncio.Event()
    model.script = script
    doom = await world.agent("Doom", model=model.model, tools=[python_tool("explode")])
    others = [await world.agent(name, model=model.model) for name in INNOCENT]
    spaces = {each.id: await world.owner.create_space(each.name, each) for each in (doom, *others)}
    [message, *_] = [await world.owner.say(space, "Hello") for space in spaces.values()]
    ledger = Ledger(world.gateway.db)
    for deaths in (1, 2):
        # Doom explodes only when all four have begun, so that none of them has made progress.
        all_asked.clear()
        worker = await workers.start(poll_millis=EAGER_MILLIS)
        await model.until_asked(4 * deaths)
        all_asked.set()
        await worker.until_gone()
    released.set()
    third = await crash(workers)
    held = [run for run in await ledger.runs() if f".{third.pid}." in (run["lease_owner"] or "")]
    assert [run["agent_id"] for run in held] == [doom.id], "the deadly run was alone"
    fourth = await workers.start(poll_millis=EAGER_MILLIS)
    await until(lambda: _all_over(ledger))
    assert not fourth.gone
    outcomes = {run["agent_id"]: (run["status"], run["error"] and run["error"]["code"]) for run in await ledger.runs()}
    assert outcomes == {doom.id: ("failed", "workers_died"), **{each.id: ("completed", None) for each in others}}
    assert [await ledger.texts(spaces[each.id]) for each in others] == [["Hello", "Here."]] * 3
    _, notice = await ledger.texts(spaces[doom.id])
    assert notice == "Doom couldn't answer. An admin has been notified."
    again = await world.owner.ok("POST", f"/api/messages/{message['id']}/deliveries/{doom.id}/retry")
    assert [(each["agentName"], each["state"]) for each in again] == [("Doom", "pending")]


async def test_g1_a_run_that_makes_progress_survives_any_number_of_crashes(
    workers: Workers, model: ModelServer, world: World
) -> None:
    words = [f"Part {n}" for n in range(7)]
    model.script = lambda asked: silent() if asked.step else next(say(each) for each in words if each not in asked.text)
    teller = await world.agent("Teller", model=model.model)
    space = await world.owner.create_space("Stories", teller)
    await world.owner.say(space, "Tell me")
    ledger = Ledger(world.gateway.db)
    for n in range(6):
        worker = await workers.start(poll_millis=EAGER_MILLIS, stay_after="commit_call")
        await until(partial(_has_said, ledger, space, n + 1))
        worker.kill()
        await worker.until_gone()
    await workers.start(poll_millis=EAGER_MILLIS)
    await ledger.until_statuses("completed", space=space)
    assert await ledger.texts(space) == ["Tell me", *words]


async def test_g1_the_events_of_a_deadly_cycle_are_tried_one_by_one(
    workers: Workers, model: ModelServer, world: World
) -> None:
    def script(asked: Asked) -> Reply:
        lines = inbox(asked)
        if any("Explode" in line for line in lines):
            return call("explode", order="o-1")
        answers = [("send_message", {"text": f"About {line.split(chr(34))[1]}"}) for line in lines]
        return calls(("enter_space", {"spaceId": space}), *answers) if step(asked) == 0 else silent("Done.")

    model.script = script
    scout = await world.agent("Scout", model=model.model, mind="consciousness", tools=[python_tool("explode")])
    space = await world.owner.create_space("Family", scout)
    for text in ("Lunch", "Explode", "Dinner"):
        await world.owner.say(space, text)
    ledger = Ledger(world.gateway.db)
    for _ in range(3):
        await crash(workers)
    await workers.start(poll_millis=EAGER_MILLIS)
    await until(lambda: _all_over(ledger))
    states = [each["state"] for each in await ledger.deliveries(space)]
    assert states == ["done", "failed", "done"]
    lunch, _, dinner, *said = await ledger.texts(space)
    assert [text for text in said if text.startswith("About")] == [f"About {lunch}", f"About {dinner}"]
    assert [text for text in said if not text.startswith("About")] == [
        "Scout couldn't answer. An admin has been notified."
    ]


async def _all_over(ledger: Ledger) -> bool:
    states = {each["state"] for each in await ledger.deliveries()}
    return not states & {"pending", "taken"}


async def _has_said(ledger: Ledger, space: str, count: int) -> bool:
    return len(await ledger.texts(space)) == count + 1
