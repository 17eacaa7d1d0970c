"""No message can make an agent deaf: its requests fit the model, or become smaller until they do (F1, F2)."""

from __future__ import annotations

from typing import Any

import pytest

from majlis import clock
from majlis.model_providers import Key
from majlis.models.connect.registry import parse_choice
from majlis.models.estimate_tokens import estimate
from tests.conditions import PATIENCE_SECONDS
from tests.model_server import Asked, Reply, Script, call, say, silent
from tests.runs.house import House
from tests.world import Person

_HUGE = "A long report. " * 4_300
_TOO_LONG = Reply(status=400, text="too long", error_code="context_length_exceeded")


async def _full_space(house: House, agent: Person, messages: int = 12) -> str:
    """A space full of the longest messages, which the agent joins later."""
    space = await house.space("Reports")
    for n in range(messages):
        await house.owner.say(space, f"Report {n}: {_HUGE}"[: 64 * 1024])
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": agent.id})
    return space


def _tokens(asked: Asked) -> int:
    return estimate(asked.text) + estimate(str(asked.body.get("tools", "")))


def _answers(space: str) -> Script:
    """Enters the space first if nothing is entered for it."""

    def script(asked: Asked) -> Reply:
        called = [name for turn in asked.messages for name in _called(turn)]
        if "INBOX (" in asked.text and "enter_space" not in called:
            return call("enter_space", spaceId=space)
        return silent() if "send_message" in called else say("Blue.")

    return script


def _called(turn: dict[str, Any]) -> list[str]:
    return [each["function"]["name"] for each in turn.get("tool_calls") or ()]


@pytest.mark.parametrize("tokens", [8_000, 4_000])
@pytest.mark.parametrize("mind", ["timeline", "roles", "consciousness"])
async def test_f1_a_small_model_answers_in_a_space_full_of_huge_messages(house: House, mind: str, tokens: int) -> None:
    scout = await house.agent("Scout", mind=mind, contextTokens=tokens)
    space = await _full_space(house, scout)
    house.model.script = _answers(space)
    await house.owner.say(space, f"What colour is it? {_HUGE}"[: 64 * 1024])
    await house.until_idle()
    assert (await house.texts(space))[-1] == ("Scout", "Blue.")
    assert max(map(_tokens, house.model.asked)) <= tokens
    assert all("What colour is it?" in asked.text for asked in house.model.asked)


async def test_f1_requests_are_smaller_for_a_model_that_counts_more_tokens_than_estimated(house: House) -> None:
    """Calibrated by what the provider reports: many tokenizers make twice as many tokens of Arabic."""
    scout = await house.agent("Scout", contextTokens=12_000)
    space = await _full_space(house, scout)
    counted: list[int] = []

    def script(asked: Asked) -> Reply:
        counted.append(2 * _tokens(asked))
        return Reply(usage=(counted[-1], 0, 5))

    house.model.script = script
    for n in range(2):
        await house.owner.say(space, f"{n}: what colour is it?")
        await house.until_idle()
    first, second = counted
    assert second <= 12_000 < first


async def test_f1_tools_leave_room_for_the_view(house: House) -> None:
    """The most important ones stay, in their usual order: those for answering and looking, then the agent's own."""
    own = [
        {"name": f"own_{n}", "description": "Rows. " * 20, "type": "static", "execution": {"output": n}}
        for n in range(40)
    ]
    scout = await house.agent("Scout", contextTokens=4_500, tools=own)
    space = await house.space("Lobby", scout)
    house.model.script = lambda asked: silent()
    await house.owner.say(space, "Hello")
    await house.until_idle()
    [few] = house.model.asked
    assert _tokens(few) <= 4_500
    assert few.tool_names[:3] == ["send_message", "enter_space", "read_messages"]
    kept = [name for name in few.tool_names if name.startswith("own_")]
    assert kept == [tool["name"] for tool in own][: len(kept)]
    assert set(few.tool_names) == {"send_message", "enter_space", "read_messages", *kept}
    [run] = await house.runs(scout)
    [budget] = (await house.owner.ok("GET", f"/api/runs/{run['id']}/context"))["budgets"]
    [left] = [each for each in budget["leftOut"] if each["what"] == "tools"]
    await house.owner.ok("PATCH", f"/api/agents/{scout.id}", {"config": {"contextTokens": 32_000}})
    await house.owner.say(space, "And now?")
    await house.until_idle()
    assert len(house.model.asked[-1].tool_names) == len(few.tool_names) + left["count"]


async def test_f1_long_results_leave_room_for_the_next_request(house: House) -> None:
    output = {"rows": "some words " * 5_000, "count": 5_000}
    table = {"name": "table", "description": "Rows.", "type": "static", "execution": {"output": output}}
    scout = await house.agent("Scout", contextTokens=8_000, tools=[table])
    space = await house.space("Lobby", scout)
    house.model.script = lambda asked: call("table") if asked.step < 6 else silent()
    await house.owner.say(space, "Read the table six times")
    await house.until_idle()
    assert len(house.model.asked) == 7
    assert max(map(_tokens, house.model.asked)) <= 8_000
    assert all(result["count"] == 5_000 for result in house.model.asked[-1].results)
    # Shown exactly as sent, though earlier results were shortened (X13).
    [run] = await house.runs(scout)
    context = await house.owner.ok("GET", f"/api/runs/{run['id']}/context")
    assert [each["messages"] for each in context["requests"]] == [asked.messages for asked in house.model.asked]


@pytest.mark.parametrize(("mind", "most"), [("timeline", 4_000), ("roles", 15_000), ("consciousness", 9_000)])
async def test_f2_a_request_that_is_too_long_is_made_again_with_less(house: House, mind: str, most: int) -> None:
    house.try_models_once()
    scout = await house.agent("Scout", mind=mind)
    space = await _full_space(house, scout)
    answers = _answers(space)
    refused: list[int] = []

    def script(asked: Asked) -> Any:
        if _tokens(asked) > most:
            refused.append(asked.n)
            return _TOO_LONG
        return answers(asked)

    house.model.script = script
    await house.owner.say(space, f"What colour is it? {_HUGE}"[: 64 * 1024])
    await house.until_idle()
    assert (await house.texts(space))[-1] == ("Scout", "Blue.")
    assert refused
    [run] = await house.runs(scout)
    assert run["status"] == "completed"
    assert run["attempts"] == 1
    # The smaller budget is kept for a day.
    before = len(refused)
    await house.owner.say(space, f"And now? {_HUGE}"[: 64 * 1024])
    await house.until_idle()
    assert len(refused) == before
    clock.advance(25 * 3600 * 1000)
    await house.owner.say(space, f"And tomorrow? {_HUGE}"[: 64 * 1024])
    await house.until_idle()
    assert len(refused) > before


async def test_f1_the_size_comes_from_the_config_or_the_server_and_a_refusal_lowers_it(house: House) -> None:
    house.try_models_once()
    house.world.gateway.models.contexts.wait_seconds = PATIENCE_SECONDS
    house.model.context = 9_000
    asks = await house.agent("Asks")
    told = await house.agent("Told", contextTokens=12_000)
    space = await house.space("Lobby", asks, told)
    house.model.script = lambda asked: silent()
    await house.owner.say(space, "Hello")
    await house.until_idle()
    assert await _budget(house, asks) == (9_000, "server")
    assert await _budget(house, told) == (12_000, "config")

    house.model.script = lambda asked: _TOO_LONG if _tokens(asked) > 5_500 else silent()
    for n in range(2):
        await house.owner.say(space, f"{n} {_HUGE}"[: 64 * 1024])
        await house.until_idle()
        assert await _budget(house, asks) == (4_500, "learned")
    # A server that says less than was learned is believed.
    house.model.context = 4_100
    clock.advance(3_600_000)
    await house.world.gateway.models.contexts.look(parse_choice(house.model.model), Key(None))
    await house.owner.say(space, "And now?")
    await house.until_idle()
    assert await _budget(house, asks) == (4_100, "server")


async def _budget(house: House, agent: Person) -> tuple[int, str]:
    """The budget of the last request of its last run."""
    run = (await house.runs(agent))[-1]
    budgets = (await house.owner.ok("GET", f"/api/runs/{run['id']}/context"))["budgets"]
    return budgets[-1]["tokens"], budgets[-1]["source"]


async def test_f2_a_model_that_refuses_everything_fails_the_run_with_the_reason(house: House) -> None:
    house.try_models_once()
    scout = await house.agent("Scout", limits={"attempts": 1})
    space = await house.space("Lobby", scout)
    house.model.script = lambda asked: _TOO_LONG
    await house.owner.say(space, "Hello")
    await house.until_idle()
    # 32,000, 16,000, 8,000 and 4,000 tokens.
    assert len(house.model.asked) == 4
    [run] = await house.runs(scout)
    assert run["error"]["code"] == "model_context_too_long"
