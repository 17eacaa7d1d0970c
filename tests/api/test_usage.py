"""The cost of an agent's runs, for its administrators and itself."""

from __future__ import annotations

import pytest

from majlis import clock
from majlis.settings import ModelPrice, Settings
from tests.api.test_bad_input import UNKNOWN, assert_error
from tests.api.test_query_counts import counted
from tests.past_runs import add_run
from tests.world import World

# A test that runs past midnight would see another day.
pytestmark = pytest.mark.usefixtures("standing_clock")
NOTHING = {"runs": 0, "requests": 0, "inputTokens": 0, "cachedTokens": 0, "outputTokens": 0}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Without workers: the tests write the runs."""
    price = ModelPrice(input=1, cached=0.5, output=10)
    prices = {"openai:gpt-5.2": price, "openai:dear": ModelPrice(input=20, output=100)}
    return settings.model_copy(update={"workers": 0, "model_prices": prices})


async def test_the_runs_of_an_agent_are_added_up_whatever_became_of_them(world: World) -> None:
    scout, other = await world.agent("Scout"), await world.agent("Other")
    for status in ("completed", "failed", "canceled", "waiting_reply"):
        await add_run(
            world, scout, status=status, requests=2, input_tokens=2**40, cached_tokens=2**39, output_tokens=30
        )
    await add_run(world, other, requests=9, input_tokens=9, cached_tokens=9, output_tokens=9)
    for reader in (scout, world.owner, await world.person("Ada", role="admin")):
        assert await reader.ok("GET", f"/api/agents/{scout.id}/usage") == {
            "runs": 4,
            "requests": 8,
            "inputTokens": 2**42,
            "cachedTokens": 2**41,
            "outputTokens": 120,
        }


async def test_an_agent_that_has_never_run_has_cost_nothing(world: World) -> None:
    scout = await world.agent("Scout")
    assert await scout.ok("GET", f"/api/agents/{scout.id}/usage") == NOTHING


async def test_others_do_not_see_what_an_agent_costs(world: World) -> None:
    scout, other, sara = await world.agent("Scout"), await world.agent("Other"), await world.person("Sara")
    for stranger in (other, sara):
        assert_error(await stranger.get(f"/api/agents/{scout.id}/usage"), 403, "not_allowed")
    for nobody in (f"ent_{UNKNOWN}", sara.id):
        assert_error(await world.owner.get(f"/api/agents/{nobody}/usage"), 404, "unknown_agent")


async def test_usage_is_added_up_day_by_day_and_is_money_where_prices_are_set(world: World) -> None:
    scout, other = await world.agent("Scout", model="openai:gpt-5.2"), await world.agent("Other", model="demo")
    day = 86_400_000
    today = clock.now() // day * day
    for created_at in (today - 29 * day, today - day, today, today + 1, today - 30 * day):
        spent = {"requests": 1, "input_tokens": 1_000_000, "cached_tokens": 400_000, "output_tokens": 100_000}
        await add_run(world, scout, created_at=created_at, **spent)
    await add_run(world, other, input_tokens=5)
    days = await scout.ok("GET", f"/api/agents/{scout.id}/usage/days")
    assert [(each["day"], each["runs"], each["cost"]) for each in days] == [
        (clock.iso(today - 29 * day)[:10], 1, pytest.approx(1.8)),
        (clock.iso(today - day)[:10], 1, pytest.approx(1.8)),
        (clock.iso(today)[:10], 2, pytest.approx(3.6)),
    ]
    assert days[-1]["inputTokens"] == 2_000_000
    [latest] = await world.owner.ok("GET", f"/api/agents/{scout.id}/usage/days", days=1)
    assert latest == days[-1]
    [unpriced] = await other.ok("GET", f"/api/agents/{other.id}/usage/days")
    assert (unpriced["inputTokens"], unpriced["cost"]) == (5, None)
    assert_error(await other.get(f"/api/agents/{scout.id}/usage/days"), 403, "not_allowed")


async def test_a_run_costs_what_the_model_costs_that_it_has_used(world: World) -> None:
    """Whatever the agent's model is now. Older runs without a model use the current one. A day with an unpriced run has
    no cost."""
    scout = await world.agent("Scout", model="openai:gpt-5.2")
    day = 86_400_000
    today = clock.now() // day * day
    spent = {"requests": 1, "input_tokens": 1_000_000, "output_tokens": 0}
    await add_run(world, scout, created_at=today - 2 * day, **spent)
    for model in ("openai:gpt-5.2", "openai:dear", None):
        await add_run(world, scout, created_at=today - day, model=model, **spent)
    # A run without requests costs nothing and does not make the day unpriced.
    await add_run(world, scout, created_at=today, model="openai:dear", **spent)
    await add_run(world, scout, created_at=today)
    await world.owner.ok("PATCH", f"/api/agents/{scout.id}", {"config": {"model": "demo"}})
    days = await scout.ok("GET", f"/api/agents/{scout.id}/usage/days")
    assert [(each["runs"], each["inputTokens"], each["cost"]) for each in days] == [
        (1, 1_000_000, None),
        (3, 3_000_000, None),
        (2, 1_000_000, pytest.approx(20)),
    ]
    await world.owner.ok("PATCH", f"/api/agents/{scout.id}", {"config": {"model": "openai:gpt-5.2"}})
    days = await scout.ok("GET", f"/api/agents/{scout.id}/usage/days")
    assert [each["cost"] for each in days] == [pytest.approx(1), pytest.approx(22), pytest.approx(20)]


async def test_the_sum_is_one_query_however_many_runs_there_are(world: World) -> None:
    scout = await world.agent("Scout")
    for _ in range(20):
        await add_run(world, scout)
    await scout.ok("GET", f"/api/agents/{scout.id}/usage")
    with counted(world) as statements:
        assert (await scout.ok("GET", f"/api/agents/{scout.id}/usage"))["runs"] == 20
    # The token, the agent, the sum.
    assert len(statements) == 3, statements
