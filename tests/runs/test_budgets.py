"""E5: agents stop when a budget is spent, and continue when it is raised or a new day begins."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import sqlalchemy as sa

from majlis.models.sizes_and_prices import Prices
from majlis.runs.budget.check import Budgets, check_budgets
from majlis.runs.worker import Worker
from majlis.settings import ModelPrice, Settings
from majlis.store.tables import spend
from tests.api.test_bad_input import assert_error
from tests.conditions import until
from tests.model_server import Asked, Reply, call, say, sequence, silent
from tests.runs.house import House, open_house

# One dollar a request: 10,000 tokens at 100 dollars a million.
ONE_DOLLAR = (10_000, 0, 0)
PRICES = Prices({"openai:scripted": ModelPrice(input=100, output=0)})


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with open_house(settings) as opened:
        opened.world.gateway.engine.prices = PRICES
        yield opened


def dear(answer: Reply) -> Reply:
    answer.usage = ONE_DOLLAR
    return answer


def answers(asked: Asked) -> Reply:
    """One message, also if the run goes on later: then its own message is in the history."""
    text = f"answer to {asked.trigger_text}"
    return dear(silent() if asked.step or text in asked.text else say(text))


async def set_budgets(house: House, *budgets: dict[str, Any]) -> list[Any]:
    found = await house.owner.ok("PUT", "/api/budgets", {"budgets": list(budgets)})
    return list(found["budgets"])


async def budgets_of(house: House) -> list[Any]:
    return list((await house.owner.ok("GET", "/api/budgets"))["budgets"])


async def until_parked(house: House, count: int = 1) -> None:
    async def are_parked() -> bool:
        found = await house.runs(status="queued")
        return len([run for run in found if run["reason"] == "budget"]) >= count

    await until(are_parked)
    await house.until_idle()


async def are_parked(house: House, *messages: Any) -> bool:
    return all([await house.deliveries(message) == [("Scout", "parked")] for message in messages])


async def test_e5_a_spent_budget_stops_a_run_and_a_raise_continues_it_from_its_journal(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = answers
    await set_budgets(house, {"scope": "agent", "id": scout.id, "usd": 1})
    async with house.owner.follow(space) as events:
        await events.until("connected")
        await house.owner.say(space, "first")
        spent = (await events.until("budget.spent")).data
    await until_parked(house)
    # The first request cost a dollar. The second was not made.
    assert len(house.model.asked) == 1
    [run] = await house.runs()
    assert (run["status"], run["reason"], run["attempts"], run["cost"]) == ("queued", "budget", 1, 1.0)
    assert (spent["runId"], spent["scope"], spent["budgetId"]) == (run["id"], "agent", scout.id)
    [budget] = await budgets_of(house)
    assert (budget["spent"], budget["spentTokens"]) == (1.0, 10_000)
    [notice] = [text for _, text in await house.texts(space) if "is spent" in text]
    assert notice.startswith("Scout has stopped: today's budget of Scout is spent.")
    await set_budgets(house, {"scope": "agent", "id": scout.id, "usd": 10})
    await house.until_idle()
    [run] = await house.runs()
    assert (run["status"], run["reason"], run["attempts"]) == ("completed", None, 1)
    # What it had sent is not sent again.
    assert [text for name, text in await house.texts(space) if name == "Scout"] == ["answer to first"]


async def test_e5_messages_behind_a_parked_run_are_parked_and_taken_along(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = lambda asked: dear(silent())
    await set_budgets(house, {"scope": "space", "id": space, "usd": 0})
    first = await house.owner.say(space, "first")
    await until_parked(house)
    later = [await house.owner.say(space, text) for text in ("second", "third")]
    await until(lambda: are_parked(house, *later))
    assert house.model.asked == []
    await set_budgets(house)
    await house.until_idle()
    [run] = await house.runs()
    assert run["status"] == "completed"
    assert [event["text"] for event in run["trigger"]["events"]] == ["first", "second", "third"]
    assert run["trigger"]["text"] == "first"
    [asked] = house.model.asked
    assert all(f'"{text}"' in asked.text for text in ("first", "second", "third"))
    for message in (first, *later):
        assert await house.deliveries(message) == [("Scout", "passed")]


async def test_e5_a_new_day_renews_daily_budgets(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    house.model.script = answers
    await set_budgets(house, {"scope": "gateway", "usd": 1})
    await house.owner.say(space, "first")
    await until_parked(house)
    house.advance(86_400)
    await until(lambda: has_ended(house))
    [run] = await house.runs()
    assert (run["status"], run["cost"]) == ("completed", 2.0)


async def has_ended(house: House) -> bool:
    found = await house.runs()
    return bool(found) and all(run["status"] == "completed" for run in found)


async def test_e5_the_budget_of_a_cause_renews_only_when_it_is_raised(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    house.model.script = answers
    await set_budgets(house, {"scope": "cause", "usd": 1})
    await house.owner.say(space, "first")
    await until_parked(house)
    house.advance(86_400)
    # Another cause has a budget of its own.
    other = await house.space("Elsewhere", await house.agent("Guide"))
    await house.owner.say(other, "second")
    await until_parked(house, 2)
    assert len(house.model.asked) == 2
    await set_budgets(house, {"scope": "cause", "usd": 5})
    await until(lambda: has_ended(house))


async def test_e5_the_setting_holds_beside_the_list(settings: Settings) -> None:
    async with open_house(settings.model_copy(update={"budget_usd_per_day": 1.0})) as house:
        house.world.gateway.engine.prices = PRICES
        space = await house.space("Project Alpha", await house.agent("Scout"))
        house.model.script = answers
        await set_budgets(house, {"scope": "gateway", "usd": 100})
        await house.owner.say(space, "first")
        await until_parked(house)
        assert len(house.model.asked) == 1
        assert (await house.owner.ok("GET", "/api/budgets"))["usdPerDay"] == 1.0


async def test_e5_tokens_count_where_a_model_has_no_price(house: House) -> None:
    house.world.gateway.engine.prices = Prices()
    space = await house.space("Project Alpha", await house.agent("Scout"))
    house.model.script = answers
    await set_budgets(house, {"scope": "person", "tokens": 10_000})
    await house.owner.say(space, "first")
    await until_parked(house)
    assert len(house.model.asked) == 1


async def test_e5_spending_before_a_budget_existed_counts_once(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = answers
    await house.owner.say(space, "first")
    await house.until_idle()
    rows = await house.world.gateway.db.read(lambda tx: tx.all(sa.select(spend)))
    assert rows == [], "without a budget a request writes no row"
    for _ in range(2):
        [budget] = await set_budgets(house, {"scope": "agent", "id": scout.id, "usd": 2})
        assert budget["spent"] == 2.0
        await set_budgets(house)
    await set_budgets(house, {"scope": "agent", "id": scout.id, "usd": 2})
    await house.owner.say(space, "second")
    await until_parked(house)
    assert len(house.model.asked) == 2


async def test_e5_a_raise_on_one_node_while_another_parks_is_not_missed(house: House) -> None:
    agents = [await house.agent(f"Agent {n}") for n in range(4)]
    space = await house.space("Project Alpha", *agents)
    house.model.script = lambda asked: dear(silent())
    gateway = house.world.gateway
    other = Worker(gateway.engine, gateway.bus, 8)
    other.start()
    try:
        await set_budgets(house, {"scope": "gateway", "usd": 0})
        for usd in (4, 8, 12):
            raised = set_budgets(house, {"scope": "gateway", "usd": usd})
            await asyncio.gather(house.owner.say(space, "all of you"), raised)
        await set_budgets(house, {"scope": "gateway", "usd": 1000})
        await until(lambda: has_ended(house))
    finally:
        await other.stop()


async def test_e5_many_workers_overspend_by_no_more_than_the_requests_under_way(house: House) -> None:
    agents = [await house.agent(f"Agent {n}") for n in range(6)]
    space = await house.space("Project Alpha", *agents)
    gate = asyncio.Event()

    async def script(asked: Asked) -> Reply:
        if len(house.model.asked) >= 6:
            gate.set()
        await gate.wait()
        return dear(call("set_memories", memories=[{"key": "n", "value": str(asked.n)}]))

    house.model.script = script
    await set_budgets(house, {"scope": "gateway", "usd": 1})
    await house.owner.say(space, "all of you")
    await until_parked(house, 6)
    # Six requests were under way when the first dollar was charged.
    assert len(house.model.asked) == 6
    [budget] = await budgets_of(house)
    assert budget["spent"] == 6.0


async def test_e5_an_aborted_request_is_charged_by_estimate(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    half = say("a long answer " * 20)
    half.gate_mid = asyncio.Event()
    house.model.script = sequence(half)
    await set_budgets(house, {"scope": "gateway", "usd": 5})
    async with house.owner.follow(space) as events:
        await events.until("connected")
        await house.owner.say(space, "tell me")
        await events.until("tool-input-delta")
    [run] = await house.runs()
    await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")

    async def has_spent() -> bool:
        [budget] = await budgets_of(house)
        return bool(budget["spent"] > 0 and budget["spentTokens"] > 0)

    await until(has_spent)
    half.gate_mid.set()


async def test_e5_a_canceled_parked_run_leaves_the_messages_behind_it_to_another(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    house.model.script = lambda asked: dear(silent())
    await set_budgets(house, {"scope": "agent", "usd": 0})
    await house.owner.say(space, "first")
    await until_parked(house)
    second = await house.owner.say(space, "second")
    await until(lambda: are_parked(house, second))
    [run] = await house.runs()
    await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
    await until_parked(house)
    await set_budgets(house)
    await house.until_idle()
    assert await house.deliveries(second) == [("Scout", "passed")]


async def test_e5_a_budget_for_one_replaces_the_one_for_each(house: House) -> None:
    ada, bo = await house.agent("Ada"), await house.agent("Bo")
    await set_budgets(house, {"scope": "agent", "usd": 0}, {"scope": "agent", "id": ada.id, "usd": 5})

    async def spent(agent_id: str) -> bool:
        keys: Any = {"gateway": "", "agent": agent_id}
        found = await house.world.gateway.db.read(check_budgets, keys, Budgets().today(), None)
        return found.spent is not None

    assert (await spent(ada.id), await spent(bo.id)) == (False, True)


async def test_e5_budgets_are_for_administrators_and_are_checked(house: House) -> None:
    sara = await house.person("Sara")
    assert_error(await sara.get("/api/budgets"), 403, "not_allowed")
    for budgets, code in (
        ([{"scope": "gateway"}], "budget_without_limit"),
        ([{"scope": "gateway", "usd": 1}, {"scope": "gateway", "tokens": 1}], "budget_twice"),
        ([{"scope": "agent", "id": sara.id, "usd": 1}], "unknown_budget_id"),
        ([{"scope": "gateway", "id": sara.id, "usd": 1}], "budget_of_gateway"),
    ):
        assert_error(await house.owner.http.put("/api/budgets", json={"budgets": budgets}), 422, code)
    assert await budgets_of(house) == []
    listed = await set_budgets(house, {"scope": "person", "id": sara.id, "usd": 1.5, "tokens": 5})
    assert listed == [{"scope": "person", "id": sara.id, "usd": 1.5, "tokens": 5, "spent": 0.0, "spentTokens": 0}]
    # The list that was read can be sent back.
    assert await set_budgets(house, *listed) == listed
