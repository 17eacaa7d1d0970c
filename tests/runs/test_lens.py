"""F1: what each block of a prompt took of the budget, what was left out and why, and what was cached."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.model_server import Reply, call, sequence, silent
from tests.runs.house import House


async def budgets(house: House, run: Any) -> list[Any]:
    context = await house.owner.ok("GET", f"/api/runs/{run['id']}/context")
    assert [each["step"] for each in context["budgets"]] == [each["step"] for each in context["requests"]]
    found: list[Any] = context["budgets"]
    return found


def left_out(budget: Any) -> dict[tuple[str, str, str], int]:
    return {(each["what"], each["how"], each["why"]): each["count"] for each in budget["leftOut"]}


async def test_f1_each_block_has_its_share_and_the_beginning_was_cached(house: House) -> None:
    scout = await house.agent("Scout", contextTokens=8_000)
    space = await house.space("Lobby", scout)
    house.model.script = sequence(Reply(calls=[("get_memories", {})], usage=(1_000, 500, 10)), silent())
    await house.owner.say(space, "Hello")
    await house.until_idle()
    [run] = await house.runs()
    first, second = await budgets(house, run)
    assert (first["tokens"], first["reserved"]) == (8_000, 1_000)
    names = [part["name"] for part in first["parts"]]
    assert names[:2] == ["tools", "INSTRUCTIONS"]
    assert {"IDENTITY", "SPACE HISTORY", "TRIGGER", "NOW"} <= set(names)
    taken, cached = [sum(part[of] for part in first["parts"]) for of in ("tokens", "cached")]
    assert cached == taken // 2
    # Whole parts from the beginning, then one in part, then none.
    shares = [part["cached"] / part["tokens"] for part in first["parts"]]
    assert shares == sorted(shares, reverse=True)
    assert sum(part["cached"] for part in second["parts"]) == 0
    assert [part["name"] for part in second["parts"]][-2:] == ["assistant", "tool"]
    assert first["leftOut"] == []


@pytest.mark.parametrize("mind", ["timeline", "roles"])
async def test_f1_left_out_parts_are_counted_with_their_reason(house: House, mind: str) -> None:
    table = {"name": "table", "type": "static", "execution": {"output": {"rows": "some words " * 5_000}}}
    scout = await house.agent("Scout", mind=mind, contextTokens=6_000, window=10, tools=[table])
    space = await house.space("Lobby", triggers="mentioned")
    for n in range(30):
        await house.owner.say(space, f"{n} " + "some words " * (1_000 if n == 27 else 100))
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": scout.id})
    house.model.script = sequence(call("table"), silent())
    await house.owner.say(space, "@Scout hello")
    await house.until_idle()
    [run] = await house.runs()
    first, second = await budgets(house, run)
    found = left_out(first)
    by_window = found["messages", "left out", "window"]
    by_budget = found["messages", "left out", "budget"]
    shown = len(set(re.findall(r"\d+ some words", house.model.asked[0].text)))
    assert by_window in (20, 21, 25)
    assert by_window + by_budget + shown == 30
    assert found["messages", "shortened", "budget"] >= 1
    assert left_out(second)["results", "shortened", "budget"] == 1


async def test_f1_a_cycle_counts_what_it_remembers_in_short(house: House) -> None:
    scout = await house.agent("Scout", mind="consciousness", contextTokens=6_000)
    house.model.script = lambda asked: silent("words " * 300)
    for n in range(30):
        await house.tell(scout, {"n": n, "text": "more words " * 100})
        await house.until_idle()
    last = (await budgets(house, (await house.runs(scout))[-1]))[0]
    assert left_out(last)["cycles", "summarised", "budget"] > 0
    assert "EARLIER CYCLES" in [part["name"] for part in last["parts"]]
