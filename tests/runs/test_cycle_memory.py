"""K3, K7, J6: what a cycle stores, and how long its requests may get."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from typing import Any

import pytest
import sqlalchemy as sa

from tests.model_server import Reply, call, calls, say, sequence, silent
from tests.runs.cycles import calls_of, conscious, consciousness, each_cycle, first_requests, inbox
from tests.runs.house import House


async def test_j6_a_cycle_that_reaches_a_limit_is_kept_and_every_call_in_it_has_its_result(house: House) -> None:
    scout = await conscious(house, limits={"steps": 2})
    house.model.script = lambda asked: calls(("get_memories", {}), ("get_plans", {}))
    await house.tell(scout)
    await house.until_idle()
    [run] = await house.runs(scout)
    assert (run["status"], run["reason"]) == ("completed", "limit")
    [kept] = await consciousness(house, scout)
    assert calls_of(kept) == ["get_memories", "get_plans", "= get_memories", "= get_plans"] * 2
    assert kept["summary"].startswith("On INBOX (1 event, …): [Service: Shop] null I called get_memories × 2, ")


async def test_j6_cached_tokens_do_not_count_against_a_cycle(house: House) -> None:
    """Every request includes its memory: ten of them would always exceed the limit."""
    scout = await conscious(house, limits={"tokensPerRun": 1_000})
    cached = call("get_memories")
    cached.usage = (900, 850, 10)
    house.model.script = sequence(*[cached] * 6, silent("Done."))
    await house.tell(scout)
    await house.until_idle()
    [run] = await house.runs(scout)
    assert (run["status"], run["reason"], run["usage"]["requests"]) == ("completed", None, 7)


async def test_k3_every_request_begins_with_the_one_before_it_word_for_word(house: House) -> None:
    """So a provider's cache has everything except the new part."""
    husam, scout = await house.person("Husam"), await conscious(house)
    family = await house.space("Family", husam, scout)
    house.model.script = each_cycle(call("enter_space", spaceId=family), say("Hello"), silent("Said hello."))
    for n in range(4):
        await husam.say(family, f"message {n}")
        await house.until_idle()
    requests = [asked.messages for asked in house.asked("Scout")]
    assert len(requests) == 4 * 3
    assert all(after[: len(before)] == before for before, after in pairwise(requests))


@pytest.mark.parametrize(("engine", "kept"), [("sqlite", "{"), ("sqlite", "null"), ("postgresql", "null")])
async def test_r9_a_damaged_cycle_is_shown_without_what_was_said_in_it(house: House, kept: str) -> None:
    scout = await conscious(house)
    house.model.script = lambda asked: silent("Noted.")
    for n in (1, 2):
        await house.tell(scout, {"order": n})
        await house.until_idle()
    broken = sa.text(f"UPDATE cycles SET messages = '{kept}' WHERE n = 1")
    await house.world.gateway.db.write(lambda tx: tx.execute(broken).rowcount)
    first, second = await consciousness(house, scout)
    assert (first["n"], first["messages"], first["summary"]) == (1, [], "Noted.")
    assert second["messages"]


async def test_k7_closing_words_of_long_ago_can_be_recalled_in_full(house: House) -> None:
    scout = await conscious(house)
    recall = call("recall_cycles", first=2, count=5)
    house.model.script = sequence(silent("One."), silent("Two."), silent("Three."), recall, silent())
    for n in range(4):
        await house.tell(scout, n)
        await house.until_idle()
    recalled = json.loads(house.asked("Scout")[-1].last["content"])
    assert [(each["n"], each["summary"]) for each in recalled["cycles"]] == [(2, "Two."), (3, "Three.")]


async def test_j3_a_canceled_cycle_is_not_kept_and_the_next_one_begins(house: House) -> None:
    scout = await conscious(house)
    gate = asyncio.Event()
    house.model.script = lambda asked: Reply(text="thinking", gate=gate) if len(house.asked("Scout")) < 2 else silent()
    await house.tell(scout, 1)
    await house.model.until_asked(1)
    [run] = await house.runs(scout)
    await house.tell(scout, 2)
    await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
    await house.until_idle()
    assert [run["status"] for run in await house.runs(scout)] == ["canceled", "completed"]
    assert [inbox(asked) for asked in first_requests(house, "Scout")] == [["[Service: Shop] 1"], ["[Service: Shop] 2"]]
    assert [cycle["n"] for cycle in await consciousness(house, scout)] == [1]


async def test_k7_tool_results_are_cut_to_the_rest_of_the_budget(house: House) -> None:
    output = {"rows": "x" * 60_000}
    tool = {"name": "table", "description": "Rows.", "type": "static", "execution": {"output": output}}
    scout = await conscious(house, tools=[tool], consciousness={"maxTokens": 10_000, "minRecentCycles": 2})
    house.model.script = each_cycle(call("table"), call("table"), silent("Looked at the table twice."))
    for n in range(6):
        await house.tell(scout, n)
        await house.until_idle()
    for asked in house.asked("Scout"):
        assert len(json.dumps(asked.messages)) / 4 <= 10_000
    kept = await consciousness(house, scout)
    assert [cycle["summary"] for cycle in kept] == ["Looked at the table twice."] * 6
    assert all(cycle["tokens"] > 1_500 for cycle in kept)
    steps = await house.owner.ok("GET", f"/api/runs/{kept[0]['runId']}/steps")
    assert [each["output"] for each in steps if each.get("name") == "table"] == [output] * 2, "whole in the journal"


async def test_k3_secret_fields_are_not_remembered(house: House) -> None:
    schema = {"type": "object", "properties": {"password": {"type": "string", "writeOnly": True}}}
    tool = {"name": "vault", "description": "Opens.", "type": "static", "inputSchema": schema}
    scout = await conscious(house, tools=[{**tool, "execution": {"output": "open"}}])
    house.model.script = each_cycle(call("vault", password="hunter2-and-more"), silent("Opened the vault."))
    await house.tell(scout)
    await house.until_idle()
    [kept] = await consciousness(house, scout)
    assert calls_of(kept) == ["vault", "= vault"]
    assert "hunter2" not in json.dumps(kept)


async def test_k7_x13_a_cycle_of_many_large_answers_stays_within_its_budget(house: House) -> None:
    """Each result was cut, and yet eighteen of them made a request three times as long as the budget."""
    output = {"rows": "x" * 20_000}
    tool = {"name": "table", "description": "Rows.", "type": "static", "execution": {"output": output}}
    scout = await conscious(house, tools=[tool], consciousness={"maxTokens": 6_000, "minRecentCycles": 2})
    house.model.script = each_cycle(*[call("table", page=n) for n in range(18)], silent("Read all of it."))
    await house.tell(scout)
    await house.until_idle()
    requests = house.asked("Scout")
    assert len(requests) == 19
    for asked in requests:
        assert _tokens(asked.messages) <= 6_000
        assert all(len(results) == len(said) for said, results in _pairs(asked.messages))
    # Results that the model has not read yet are kept longer. A truncated result is not truncated again.
    *read, latest = [message for message in requests[-1].messages if message["role"] == "tool"]
    assert len(latest["content"]) >= 2_000
    assert max(len(message["content"]) for message in read) > 40
    for message in (*read, latest):
        rows = json.loads(message["content"])["rows"]
        assert f"… ({20_000 - rows.count('x')} characters left out) …" in rows
    [run] = await house.runs(scout)
    context = await scout.ok("GET", f"/api/runs/{run['id']}/context")
    assert [each["messages"] for each in context["requests"]] == [asked.messages for asked in requests]
    [kept] = await consciousness(house, scout)
    assert (kept["summary"], kept["tokens"] < 6_000) == ("Read all of it.", True)
    assert calls_of(kept) == ["table", "= table"] * 18


async def test_k7_a_secret_is_masked_before_the_call_that_holds_it_is_cut(house: House) -> None:
    """In truncated arguments the secret cannot be found any more."""
    schema = {
        "type": "object",
        "properties": {"note": {"type": "string"}, "key": {"type": "string", "writeOnly": True}},
    }
    tool = {"name": "vault", "description": "Opens.", "type": "static", "inputSchema": schema}
    scout = await conscious(
        house, tools=[{**tool, "execution": {"output": "open"}}], consciousness={"maxTokens": 3_000}
    )
    opened = [call("vault", key="hunter2-and-more", note="n" * 4_000) for _ in range(3)]
    house.model.script = each_cycle(*opened, silent("Opened it three times."))
    await house.tell(scout)
    await house.until_idle()
    [kept] = await consciousness(house, scout)
    assert calls_of(kept) == ["vault", "= vault"] * 3
    assert "characters left out" in json.dumps(kept, ensure_ascii=False)
    assert "hunter2" not in json.dumps(kept)


def _tokens(messages: list[dict[str, Any]]) -> float:
    """The size of all messages, calls and results."""
    calls = [each["function"] for message in messages for each in message.get("tool_calls") or ()]
    texts = [message.get("content") or "" for message in messages] + [each["arguments"] for each in calls]
    return len("".join(texts).encode()) / 4


def _pairs(messages: list[dict[str, Any]]) -> list[tuple[list[str], list[str]]]:
    """For each turn with calls: their ids, and those of the results after it."""
    found: list[tuple[list[str], list[str]]] = []
    for message in messages:
        if message["role"] == "tool":
            found[-1][1].append(message["tool_call_id"])
        elif "tool_calls" in message:
            found.append(([each["id"] for each in message["tool_calls"]], []))
    return found
