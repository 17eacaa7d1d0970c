"""E8 in a cluster: held runs of two nodes decide one after another."""

from __future__ import annotations

import asyncio

from majlis.gateway import open_gateway
from majlis.runs.calls.held_message import TICKET_MILLIS, give_back, is_taken, take_ticket
from majlis.runs.run import Run
from majlis.settings import Settings
from majlis.store.tables import runs
from majlis.store.transactions import Tx
from tests.model_server import Asked, Reply, say, silent
from tests.runs.house import House, open_house
from tests.runs.test_guard import held


async def test_e8_on_two_nodes_each_speaks_once_and_none_crosses_another(settings: Settings) -> None:
    async with open_house(settings.model_copy(update={"workers": 3})) as house:
        second = await open_gateway(settings.model_copy(update={"workers": 3}))
        await second.start()
        try:
            await _all_speak(house)
        finally:
            await second.close()


async def _all_speak(house: House) -> None:
    names = [f"Agent {n}" for n in range(6)]
    agents = [await house.agent(name) for name in names]
    space = await house.space("Project Alpha", *agents)
    gate = asyncio.Event()

    async def script(asked: Asked) -> Reply:
        if asked.trigger_text != "Hello everyone" or (asked.step and not held(asked)):
            return silent()
        if asked.step == 0:
            await gate.wait()
        return say(f"Hello from {asked.agent}")

    house.model.script = script
    await house.owner.say(space, "Hello everyone")
    await house.model.until_asked(6)
    gate.set()
    await house.until_idle()
    page = await house.owner.history(space)
    assert sorted(each["text"] for each in page["messages"][1:]) == [f"Hello from {name}" for name in names]
    assert not [each for each in page["messages"] if each["crossed"]]
    results = [result for asked in house.model.asked if (result := held(asked)) and len(asked.results) == 1]
    assert sorted(len(result["newMessages"]) for result in results) == [1, 2, 3, 4, 5]


async def test_e8_one_run_has_the_ticket_until_it_is_over_or_gives_it_back(house: House) -> None:
    agents = [await house.agent(name) for name in ("A", "B")]
    space = await house.space("Project Alpha", *agents)
    gate = asyncio.Event()

    async def script(asked: Asked) -> Reply:
        await gate.wait()
        return silent()

    house.model.script = script
    await house.owner.say(space, "Hello")
    await house.model.until_asked(2)
    db = house.world.gateway.db
    a, b = [_run(each, space) for each in await house.runs()]
    both = await asyncio.gather(db.write(take_ticket, a, space), db.write(take_ticket, b, space))
    assert sorted(both) == [False, True]
    first, last = (a, b) if both[0] else (b, a)
    assert await db.read(is_taken, last, space)
    assert not await db.read(is_taken, first, space)
    await db.write(give_back, first)
    assert await db.write(take_ticket, last, space)
    # The run that has it waits for people now.
    await db.write(_set_status, last, "waiting_reply")
    assert await db.write(take_ticket, first, space)
    await db.write(_set_status, last, "running")
    assert not await db.write(take_ticket, last, space)
    house.advance(TICKET_MILLIS / 1000)
    assert await db.write(take_ticket, last, space)
    gate.set()
    await house.until_idle()


def _set_status(tx: Tx, run: Run, status: str) -> None:
    tx.execute(runs.update().where(runs.c.id == run.id).values(status=status))


def _run(shown: dict[str, str], space: str) -> Run:
    return Run(
        shown["id"], shown["agentId"], "", 1, {"type": "space_message", "chainDepth": 0}, space, space, 0,
        cause_id=shown["causeId"],
    )  # fmt: skip
