"""The cost of an agent's runs, for its administrators and itself."""

from __future__ import annotations

from typing import Any

import pytest

from majlis import clock
from majlis.settings import Settings
from tests.api.test_bad_input import UNKNOWN, assert_error
from tests.api.test_query_counts import fewest
from tests.past_runs import add_run
from tests.world import Person, World

# A test that runs past midnight would see another day.
pytestmark = pytest.mark.usefixtures("standing_clock")
NOTHING = {"runs": 0, "requests": 0, "inputTokens": 0, "cachedTokens": 0, "outputTokens": 0}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Without workers: the tests write the runs."""
    return settings.model_copy(update={"workers": 0, "timezone": "Asia/Kathmandu"})


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


async def test_usage_is_added_up_day_by_day_with_what_the_runs_have_cost(world: World) -> None:
    scout, other = await world.agent("Scout"), await world.agent("Other")
    day = 86_400_000
    today = clock.now() // day * day
    for created_at in (today - 29 * day, today - day, today, today + 1, today - 30 * day):
        await add_run(world, scout, created_at=created_at, requests=1, input_tokens=1_000_000, cost=1.8)
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


async def report(reader: Person, **params: Any) -> dict[str, tuple[int, float | None, int]]:
    """By name: runs, cost and unpriced runs."""
    found = await reader.ok("GET", "/api/usage", **params)
    assert found["currency"] == "USD"
    return {row["name"]: (row["runs"], row["cost"], row["unpricedRuns"]) for row in found["rows"]}


async def test_e6_costs_are_summed_by_agent_space_person_and_model(world: World) -> None:
    scout, other, sara = await world.agent("Scout"), await world.agent("Other"), await world.person("Sara")
    space = await world.owner.create_space("Alpha", scout, other, sara)
    message = await sara.say(space, "hi")
    await add_run(world, scout, message, cost=0.5, input_tokens=10, person_id=sara.id, model="openai:gpt-5.2")
    await add_run(world, scout, message, cost=0.25, input_tokens=10, person_id=sara.id, model="openai:gpt-5.2")
    await add_run(world, other, message, input_tokens=10, person_id=sara.id, model="ollama:qwen")
    await add_run(world, other)
    owner = world.owner
    assert await report(owner) == {"Scout": (2, 0.75, 0), "Other": (2, None, 1)}
    assert await report(owner, by="space") == {"Alpha": (3, 0.75, 1), "No space": (1, None, 0)}
    assert await report(owner, by="person") == {"Sara": (3, 0.75, 1), "No person": (1, None, 0)}
    by_model = {"openai:gpt-5.2": (2, 0.75, 0), "ollama:qwen": (1, None, 1), "No model": (1, None, 0)}
    assert await report(owner, by="model") == by_model
    assert await report(owner, by="agent", spaceId=space) == {"Scout": (2, 0.75, 0), "Other": (1, None, 1)}


async def test_e6_a_day_is_a_day_of_the_gateway(world: World) -> None:
    """Kathmandu is 5 h 45 min ahead of UTC: 18:15 UTC is midnight there."""
    scout = await world.agent("Scout")
    midnight = clock.start_of_day(clock.day_of(clock.now(), "Asia/Kathmandu"), "Asia/Kathmandu")
    assert clock.iso(midnight).endswith("T18:15:00.000Z")
    for created_at in (midnight - 1, midnight, midnight + 1):
        await add_run(world, scout, created_at=created_at, cost=1.0)
    today = clock.day_of(midnight, "Asia/Kathmandu")
    yesterday = clock.day_of(midnight - 1, "Asia/Kathmandu")
    assert await report(world.owner, by="day") == {yesterday: (1, 1.0, 0), today: (2, 2.0, 0)}
    assert await report(world.owner, by="day", to=yesterday) == {yesterday: (1, 1.0, 0)}
    assert await report(world.owner, by="day", **{"from": today}) == {today: (2, 2.0, 0)}
    assert await report(world.owner, by="day", **{"from": clock.iso(midnight + 1)}) == {today: (1, 1.0, 0)}
    assert_error(await world.owner.get("/api/usage", **{"from": "yesterday"}), 422, "invalid_time")


async def test_e6_members_see_what_the_runs_in_their_spaces_cost(world: World) -> None:
    scout, sara = await world.agent("Scout"), await world.person("Sara")
    ours = await world.owner.create_space("Ours", scout, sara)
    theirs = await world.owner.create_space("Theirs", scout)
    for space in (ours, theirs):
        await add_run(world, scout, await world.owner.say(space, "hi"), cost=1.0)
    assert await report(sara, by="space") == {"Ours": (1, 1.0, 0)}
    assert await report(world.owner, by="space") == {"Ours": (1, 1.0, 0), "Theirs": (1, 1.0, 0)}
    # An administrator who is not a member sees the sum, but not the name.
    ada = await world.person("Ada", role="admin")
    found = await ada.ok("GET", "/api/usage", by="space")
    assert {(row["name"], row["cost"]) for row in found["rows"]} == {("Private space", 1.0)}


async def test_the_sum_is_one_query_however_many_runs_there_are(world: World) -> None:
    scout = await world.agent("Scout")
    for _ in range(20):
        await add_run(world, scout)
    await scout.ok("GET", f"/api/agents/{scout.id}/usage")
    found, statements = await fewest(world, lambda: scout.ok("GET", f"/api/agents/{scout.id}/usage"))
    assert found["runs"] == 20
    # The token, the agent, the sum.
    assert len(statements) == 3, statements
