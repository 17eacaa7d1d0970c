"""E6: a run shows what it has cost, at the prices of the time."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from majlis.models.sizes_and_prices import Prices
from majlis.settings import ModelPrice, Settings
from tests.model_server import Asked, Reply, say, sequence, silent
from tests.runs.house import House, open_house

CHEAP = ModelPrice(input=100, cached=50, output=1000)
DEAR = ModelPrice(input=200, cached=100, output=2000)
SPENT = (10_000, 4_000, 1_000)


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with open_house(settings) as opened:
        yield opened


def price(house: House, price: ModelPrice) -> None:
    choice = house.model.model
    house.world.gateway.engine.prices = Prices({f"{choice['provider']}:{choice['name']}": price})


def reply(text: str) -> Reply:
    answer = say(text)
    answer.usage = SPENT
    return answer


async def test_e6_a_run_and_its_steps_show_their_cost(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    price(house, CHEAP)
    house.model.script = sequence(reply("hello"), silent())
    await house.owner.say(space, "hi")
    await house.until_idle()
    [run] = await house.runs(scout)
    steps = await house.owner.ok("GET", f"/api/runs/{run['id']}/steps")
    costs = [step["usage"]["cost"] for step in steps if step["kind"] == "model"]
    assert costs[0] == pytest.approx(1.8)
    assert run["cost"] == pytest.approx(sum(costs))


async def test_e6_each_request_is_charged_the_price_of_its_time(house: House) -> None:
    """The price table changes in the middle of the run."""
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    price(house, CHEAP)

    def script(asked: Asked) -> Reply:
        price(house, DEAR)
        answer = reply("hello") if asked.step == 0 else silent()
        answer.usage = SPENT
        return answer

    house.model.script = script
    await house.owner.say(space, "hi")
    await house.until_idle()
    [run] = await house.runs(scout)
    # The first request was made while the old price held, and was answered after the change.
    assert run["cost"] == pytest.approx(1.8 + 3.6)


async def test_e6_a_run_of_an_unknown_model_counts_tokens_only(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(reply("hello"), silent())
    await house.owner.say(space, "hi")
    await house.until_idle()
    [run] = await house.runs(scout)
    assert run["cost"] is None
    assert run["usage"]["inputTokens"] >= 10_000
