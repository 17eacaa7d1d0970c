"""F3: messages that left the window are summarised once per space, in the background, and shown as EARLIER."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.models.port import Usage
from majlis.runs.budget.check import Budgets
from majlis.settings import ModelPrice, Settings
from majlis.store.open import open_database
from majlis.store.tables import summaries
from majlis.summaries.take import Made, keep, take
from tests.conditions import until
from tests.minds.places import make_place, say_much
from tests.model_server import Asked, ModelServer, Reply, silent
from tests.runs.house import House, open_house

_ALL = sa.select(summaries.c.block, summaries.c.text, summaries.c.lease).order_by(summaries.c.block)


def _says(text: str) -> Any:
    return lambda asked: Reply(text=text)


@asynccontextmanager
async def summarised(settings: Settings, script: Any = None, **more: Any) -> AsyncIterator[tuple[House, ModelServer]]:
    async with ModelServer(script or _says("They chose Friday.")) as model:
        named = {"summary_model": {**model.model, "name": "summariser"}, **more}
        async with open_house(settings.model_copy(update=named)) as house:
            yield house, model


async def until_summarised(house: House) -> None:
    background = house.world.gateway.summaries
    assert background is not None
    await until(lambda: not background.active)


async def grow(house: House, space: str, count: int) -> None:
    owner = Caller(house.owner.id, "Owner", "human", "owner", "t")
    await house.world.gateway.db.write(say_much, owner, space, count)


async def run_in(house: House, space: str, text: str = "hello") -> Asked:
    await house.owner.say(space, text)
    await house.until_idle()
    await until_summarised(house)
    return house.invocations("Scout")[-1]


async def stored(house: House, space: str) -> list[tuple[int, int, str]]:
    page = await house.owner.ok("GET", f"/api/spaces/{space}/summaries")
    return [(each["firstSeq"], each["lastSeq"], each["text"]) for each in page["summaries"]]


def _before_history(asked: Asked) -> str:
    return asked.text[: asked.text.index("  [msg:")]


async def test_f3_a_block_that_left_the_window_is_summarised_and_shown(settings: Settings) -> None:
    async with summarised(settings, _says('Chose\n"Friday" ← TRIGGER')) as (house, model):
        space = await house.space("Desk", await house.agent("Scout"))
        await grow(house, space, 60)
        first = await run_in(house, space)
        assert "EARLIER" not in first.text
        assert await stored(house, space) == [(1, 25, 'Chose "Friday" ← TRIGGER')]
        [summary] = (await house.owner.ok("GET", f"/api/spaces/{space}/summaries"))["summaries"]
        assert (await house.owner.ok("GET", f"/api/messages/{summary['firstMessageId']}"))["seq"] == 1
        [asked] = model.asked
        assert 'Owner (human): "m1"\n' in asked.text
        assert '"m25"' in asked.text
        assert '"m26"' not in asked.text
        line = 'EARLIER (messages 1–25, summarised): "Chose \\"Friday\\" \\u2190 TRIGGER"'
        second = await run_in(house, space)
        # Until the window moves, it stands after the history: the beginning of the prompt stays.
        assert f"\n{line}\n" in second.text
        assert _before_history(second) == _before_history(first)
        assert "(… 25 earlier messages are not shown" in second.text
        await grow(house, space, 20)
        third = await run_in(house, space)
        assert f"  {line}\n" in _before_history(third)
        assert "(… 25 earlier messages are not shown" in third.text, "26 to 50 have no summary yet"
        fourth = await run_in(house, space)
        assert await stored(house, space) == [(1, 25, 'Chose "Friday" ← TRIGGER'), (26, 50, 'Chose "Friday" ← TRIGGER')]
        assert len(model.asked) == 2, "each is made once"
        assert _before_history(fourth) == _before_history(third)


async def test_f3_only_blocks_that_left_lately_are_summarised(settings: Settings) -> None:
    async with summarised(settings) as (house, model):
        space = await house.space("Desk", await house.agent("Scout"))
        await grow(house, space, 2_000)
        await run_in(house, space)
        assert len(model.asked) == 8
        assert [first for first, _, _ in await stored(house, space)] == list(range(1776, 1952, 25))
        await grow(house, space, 25)
        text = (await run_in(house, space)).text
        assert text.count("EARLIER (messages") == 8


@pytest.mark.parametrize("change", ["DELETE", "PATCH"])
async def test_f3_l2_a_deletion_or_an_edit_drops_the_summary_at_once(settings: Settings, change: str) -> None:
    async with summarised(settings) as (house, model):
        space = await house.space("Desk", await house.agent("Scout"))
        secret = await house.owner.say(space, "pineapple", mentions=[])
        await grow(house, space, 60)
        await run_in(house, space)
        assert len(await stored(house, space)) == 1
        await house.owner.ok(change, f"/api/messages/{secret['id']}", {"text": "x"} if change == "PATCH" else None)
        assert await stored(house, space) == []
        shown = await run_in(house, space)
        assert "EARLIER" not in shown.text
        assert "pineapple" in model.asked[0].text
        assert len(model.asked) == 1, "it was looked at a moment ago"
        house.advance(60)
        await run_in(house, space)
        assert "pineapple" not in model.asked[1].text
        assert len(await stored(house, space)) == 1


async def test_f3_l2_a_deletion_while_the_summary_is_made_wins(settings: Settings) -> None:
    gate = asyncio.Event()
    async with summarised(settings, lambda asked: Reply(text="pineapple", gate=gate)) as (house, model):
        space = await house.space("Desk", await house.agent("Scout"))
        secret = await house.owner.say(space, "pineapple", mentions=[])
        await grow(house, space, 60)
        await house.owner.say(space, "hello")
        await model.until_open(1)
        await house.until_idle()
        assert (await house.runs())[-1]["status"] == "completed", "the run did not wait for it"
        await house.owner.ok("DELETE", f"/api/messages/{secret['id']}")
        gate.set()
        await until_summarised(house)
        assert await stored(house, space) == []


async def test_f3_a_failure_costs_only_the_summary(settings: Settings) -> None:
    async with summarised(settings, lambda asked: Reply(status=500)) as (house, model):
        space = await house.space("Desk", await house.agent("Scout"))
        await grow(house, space, 60)
        await run_in(house, space)
        house.advance(60)
        await run_in(house, space)
        assert {run["status"] for run in await house.runs()} == {"completed"}
        assert len(model.asked) == 1, "a failure backs off"
        assert await stored(house, space) == []


async def test_f3_a_space_turns_summaries_off(settings: Settings) -> None:
    async with summarised(settings) as (house, model):
        space = await house.space("Desk", await house.agent("Scout"))
        assert (await house.owner.space(space))["summaries"] == "on"
        await grow(house, space, 60)
        await run_in(house, space)
        changed = await house.owner.ok("PATCH", f"/api/spaces/{space}", {"summaries": "off"})
        assert changed["summaries"] == "off"
        assert await stored(house, space) == []
        await run_in(house, space)
        assert "EARLIER" not in house.invocations("Scout")[-1].text
        assert len(model.asked) == 1
        assert (await house.owner.patch(f"/api/spaces/{space}", {"summaries": "maybe"})).status_code == 422


async def test_f3_e5_its_cost_is_the_spaces_and_a_spent_budget_stops_it(settings: Settings) -> None:
    async with summarised(settings, model_prices={"openai:summariser": ModelPrice(input=1e4, output=0)}) as (
        house,
        model,
    ):
        space = await house.space("Desk", await house.agent("Scout"))
        await house.owner.ok("PUT", "/api/budgets", {"budgets": [{"scope": "space", "id": space, "usd": 0.5}]})
        await grow(house, space, 60)
        await run_in(house, space)
        [row] = (await house.owner.ok("GET", "/api/usage", by="space"))["rows"]
        assert (row["key"], row["cost"], row["runs"]) == (space, 1.0, 1)
        rows = (await house.owner.ok("GET", "/api/usage", by="model"))["rows"]
        assert {each["key"]: each["requests"] for each in rows} == {"openai:summariser": 1, "openai:scripted": 1}
        [budget] = (await house.owner.ok("GET", "/api/budgets"))["budgets"]
        assert budget["spent"] == 1.0
        await grow(house, space, 30)
        house.world.gateway.engine.summarise([(space, 1)])
        await until_summarised(house)
        assert len(model.asked) == 1


async def test_f3_summaries_are_for_members(settings: Settings) -> None:
    async with summarised(settings) as (house, _):
        eve = await house.person("Eve")
        space = await house.space("Desk", await house.agent("Scout"))
        assert (await eve.get(f"/api/spaces/{space}/summaries")).status_code == 404
        assert await stored(house, space) == []


async def test_f3_two_nodes_make_each_summary_once(database_url: str) -> None:
    nodes = [open_database(database_url) for _ in range(2)]
    try:
        place = await make_place(nodes[0])
        await nodes[0].write(say_much, place.husam, place.space, 60)
        budgets = Budgets()
        both = await asyncio.gather(*(each.write(take, place.space, 0, budgets) for each in nodes))
        [leased] = [each for each in both if each is not None]
        made = Made("m", "text", Usage(), None)
        assert await nodes[1].write(keep, leased, made, budgets)
        assert not await nodes[0].write(keep, leased, made, budgets), "the lease is over"
        assert await nodes[1].write(take, place.space, 0, budgets) is None
        assert await nodes[1].write(take, place.space, 2, budgets) is None, "it is not full yet"
        assert await nodes[0].read(lambda tx: [tuple(row) for row in tx.all(_ALL)]) == [(0, "text", None)]
    finally:
        for each in nodes:
            await each.close()


async def test_f3_without_a_summary_model_nothing_is_summarised(house: House) -> None:
    space = await house.space("Desk", await house.agent("Scout"))
    await grow(house, space, 60)
    house.model.script = lambda asked: silent()
    await house.owner.say(space, "hello")
    await house.until_idle()
    assert await house.world.gateway.db.read(lambda tx: tx.all(_ALL)) == []
