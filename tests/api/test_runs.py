"""Members see the runs that were triggered in their spaces, no others, and no secrets."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from majlis import clock
from majlis.settings import Settings
from tests.api.test_bad_input import UNKNOWN, assert_error
from tests.api.test_query_counts import fewest
from tests.past_runs import add_run, add_steps, add_view
from tests.world import Person, World


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Without workers: the tests write the runs."""
    return settings.model_copy(update={"workers": 0})


async def a_run(world: World, **columns: Any) -> tuple[Person, Person, str, str]:
    """Sara asked Scout something in a space: Sara, Scout, the space, the run."""
    sara, scout = await world.person("Sara"), await world.agent("Scout")
    space = await world.owner.create_space("Project Alpha", sara, scout)
    return sara, scout, space, await add_run(world, scout, await sara.say(space, "what is new?"), **columns)


async def test_j1_a_run_tells_its_state_its_trigger_and_what_it_cost(world: World) -> None:
    at = clock.now()
    sara, scout, space, run = await a_run(
        world,
        reason="limit",
        notes=["produced text, sent nothing"],
        requests=2,
        input_tokens=300,
        cached_tokens=200,
        output_tokens=20,
        attempts=1,
        started_at=at,
        ended_at=at + 1500,
        wait={"spaceId": "spc", "messageId": "msg", "startedAt": "…", "timeoutSeconds": 300, "outcome": {}},
    )
    shown = await sara.ok("GET", f"/api/runs/{run}")
    trigger, created = shown.pop("trigger"), shown.pop("createdAt")
    assert shown == {
        "id": run,
        "agentId": scout.id,
        "agentName": "Scout",
        "status": "completed",
        "reason": "limit",
        "activeSpaceId": space,
        "chainDepth": 0,
        "causeId": None,
        "person": None,
        "cost": None,
        "wait": None,
        "usage": {"requests": 2, "inputTokens": 300, "cachedTokens": 200, "outputTokens": 20},
        "error": None,
        "notes": ["produced text, sent nothing"],
        "attempts": 1,
        "startedAt": clock.iso(at),
        "endedAt": clock.iso(at + 1500),
    }
    assert created.endswith("Z")
    assert (trigger["type"], trigger["senderName"], trigger["text"]) == ("space_message", "Sara", "what is new?")


async def test_j1_a_wait_is_shown_while_the_run_waits(world: World) -> None:
    wait = {"spaceId": "spc", "messageId": "msg", "startedAt": "2026-01-01T00:00:00.000Z", "timeoutSeconds": 300}
    sara, *_, run = await a_run(world, status="waiting_reply", wait=wait)
    assert (await sara.ok("GET", f"/api/runs/{run}"))["wait"] == wait


async def test_a7_a_run_is_for_members_of_its_triggers_space_at_this_moment(world: World) -> None:
    sara, scout, space, run = await a_run(world)
    stranger = await world.person("Mallory")
    admin = await world.person("Ada", role="admin")
    for somebody in (sara, scout, world.owner):
        for path in ("", "/steps"):
            assert (await somebody.get(f"/api/runs/{run}{path}")).status_code == 200
        assert [each["id"] for each in (await somebody.ok("GET", "/api/runs"))["runs"]] == [run]
    for nobody in (stranger, admin):
        for path in ("", "/steps", "/context"):
            assert_error(await nobody.get(f"/api/runs/{run}{path}"), 404, "unknown_run")
        assert (await nobody.ok("GET", "/api/runs"))["runs"] == []
        assert_error(await nobody.get("/api/runs", spaceId=space), 404, "unknown_space")
    await world.owner.ok("DELETE", f"/api/spaces/{space}/members/{sara.id}")
    assert_error(await sara.get(f"/api/runs/{run}"), 404, "unknown_run")
    await world.owner.ok("DELETE", f"/api/spaces/{space}")
    assert_error(await world.owner.get(f"/api/runs/{run}"), 404, "unknown_run")
    assert (await scout.get(f"/api/runs/{run}")).status_code == 200
    assert_error(await sara.get(f"/api/runs/run_{UNKNOWN}"), 404, "unknown_run")


async def test_a_run_without_a_space_is_for_the_agent_and_administrators(world: World) -> None:
    sara, scout, _, _ = await a_run(world)
    other = await world.agent("Other")
    run = await add_run(world, scout)
    for somebody in (scout, world.owner, await world.person("Ada", role="admin")):
        assert (await somebody.ok("GET", f"/api/runs/{run}"))["trigger"]["payload"] == {"order": 7}
        assert (await somebody.get(f"/api/runs/{run}/context")).status_code == 200
    for nobody in (sara, other):
        assert_error(await nobody.get(f"/api/runs/{run}"), 404, "unknown_run")


async def test_runs_are_listed_newest_first_in_pages_and_by_what_is_asked(world: World) -> None:
    sara, scout, space, first = await a_run(world)
    other = await world.agent("Other")
    elsewhere = await world.owner.create_space("Elsewhere", other)
    await add_run(world, other, await world.owner.say(elsewhere, "not for Sara"))
    message = await sara.say(space, "again")
    ids = [first] + [await add_run(world, scout, message, status="failed") for _ in range(4)]
    ids += [await add_run(world, other, message) for _ in range(2)]
    seen: list[str] = []
    more = True
    while more:
        before = {"before": seen[-1]} if seen else {}
        page = await sara.ok("GET", "/api/runs", limit=3, **before)
        seen += [run["id"] for run in page["runs"]]
        more = page["hasMore"]
    assert seen == ids[::-1]

    async def found(who: Person, **asked: str) -> list[str]:
        return [run["id"] for run in (await who.ok("GET", "/api/runs", **asked))["runs"]][::-1]

    assert await found(sara, agentId=scout.id) == ids[:5]
    assert await found(sara, status="failed") == ids[1:5]
    assert await found(sara, spaceId=space, agentId=other.id) == ids[5:]
    assert await found(scout) == ids
    assert len(await found(other)) == 3
    assert len(await found(world.owner)) == 8
    assert await found(sara, agentId=f"ent_{UNKNOWN}") == []
    for query in ({"status": "asleep"}, {"limit": "0"}, {"limit": "201"}, {"before": "x"}, {"agentId": "x"}):
        assert_error(await sara.get("/api/runs", **query), 422, "invalid_request")


async def test_listing_runs_costs_two_statements_however_many_there_are(world: World) -> None:
    sara, scout, space, _ = await a_run(world)
    message = await sara.say(space, "again")
    for _ in range(60):
        await add_run(world, scout, message)
    for url, most in (("/api/runs", 2), (f"/api/runs?spaceId={space}", 3), (f"/api/runs?agentId={scout.id}", 2)):
        found, statements = await fewest(world, partial(sara.ok, "GET", url))
        assert len(found["runs"]) == 50
        assert len(statements) <= most, statements


async def test_x13_a_context_is_read_back_as_it_was_sent(world: World) -> None:
    _, scout, _, run = await a_run(world)
    told = [{"role": "system", "content": "You are Scout \u202e."}, {"role": "user", "content": "hi"}]
    answer = [{"role": "assistant", "content": "hm"}]
    tools = [{"type": "function", "function": {"name": "send_message"}}]
    await add_view(world, run, 1, None, told, tools)
    await add_view(world, run, 3, 1, answer)
    await add_view(world, run, 5, 3, answer)
    await add_view(world, run, 7, None, told)
    # The janitor has deleted the request that these two are based on.
    await add_view(world, run, 8, 6, answer)
    await add_view(world, run, 9, 8, answer)
    for reader in (scout, world.owner):
        assert (await reader.ok("GET", f"/api/runs/{run}/context"))["requests"] == [
            {"step": 1, "messages": told, "tools": tools},
            {"step": 3, "messages": told + answer, "tools": tools},
            {"step": 5, "messages": told + answer + answer, "tools": tools},
            {"step": 7, "messages": told, "tools": []},
        ]


async def test_a_context_is_not_for_plain_members(world: World) -> None:
    sara, *_, run = await a_run(world)
    assert_error(await sara.get(f"/api/runs/{run}/context"), 403, "not_allowed")


async def test_j2_the_journal_shows_model_steps_and_tool_calls(world: World) -> None:
    _, scout, _, run = await a_run(world)
    usage = {"inputTokens": 100, "cachedTokens": 90, "outputTokens": 5}
    await add_steps(
        world,
        run,
        {"kind": "model", "output": {"text": "hm"}, "usage": usage},
        {"name": "deploy", "call_id": "c1", "input": {"to": "prod"}, "state": "started", "ended_at": None},
    )
    model, tool = await scout.ok("GET", f"/api/runs/{run}/steps")
    assert (model["n"], model["kind"], model["output"], model["usage"]) == (1, "model", {"text": "hm"}, usage)
    assert model.keys() == {"n", "kind", "state", "input", "output", "usage", "startedAt", "endedAt"}
    assert (tool["name"], tool["callId"], tool["state"], tool["endedAt"]) == ("deploy", "c1", "started", None)
    assert (tool["input"], tool["output"]) == ({"to": "prod"}, None)


async def test_a_plain_member_is_not_shown_what_the_agent_did_elsewhere_or_keeps_to_itself(world: World) -> None:
    sara, scout, space, run = await a_run(world)
    secret = await world.owner.create_space("Secret", scout)
    here, there = await scout.say(space, "to all"), await scout.say(secret, "to few")
    await add_steps(
        world,
        run,
        {"kind": "model", "output": {"text": "thinking aloud"}},
        {"name": "send_message", "input": {"text": "to all"}, "output": {"messageId": here["id"]}},
        {"name": "read_messages", "input": {"spaceId": secret}, "output": {"messages": ["few"]}},
        {"name": "deploy", "input": {"spaceId": secret}, "output": "done"},
        {"name": "set_memories", "input": {"memories": {}}, "output": {}},
        {"name": "get_plans", "input": {}, "output": {}},
        {"name": "enter_space", "input": {"spaceId": secret}, "output": {"spaceId": secret}},
        {"name": "send_message", "input": {"text": "few"}, "output": {"messageId": there["id"]}},
        {
            "name": "send_message",
            "input": {"text": "few", "spaceId": space},
            "output": {"error": "…"},
            "state": "error",
        },
        {"name": "deploy", "input": {"spaceId": space}, "output": "done"},
        {"name": "enter_space", "input": {"spaceId": "spc_x"}, "output": "not a member", "state": "error"},
        {"name": "read_messages", "input": {"spaceId": space}, "output": {}},
    )

    async def hidden(reader: Person) -> list[int]:
        journal = await reader.ok("GET", f"/api/runs/{run}/steps")
        masked = [step for step in journal if isinstance(step["input"], dict) and "hidden" in step["input"]]
        assert all(step["output"] == step["input"] for step in masked)
        return [step["n"] for step in masked]

    assert await hidden(sara) == [1, 3, 5, 6, 7, 8, 9, 10, 11]
    assert await hidden(scout) == await hidden(world.owner) == []
    await world.owner.ok("POST", f"/api/spaces/{secret}/members", {"entityId": sara.id})
    assert await hidden(sara) == [1, 5, 6, 11]


async def test_a5_the_earlier_space_of_a_consciousness_is_not_guessed(world: World) -> None:
    sara, scout, space, run = await a_run(world)
    await world.owner.ok("PATCH", f"/api/agents/{scout.id}", {"config": {"mind": "consciousness"}})
    await add_steps(
        world,
        run,
        {"name": "send_message", "input": {"text": "where?"}, "state": "started"},
        {"name": "enter_space", "input": {"spaceId": space}, "output": {"spaceId": space}},
        {"name": "send_message", "input": {"text": "here"}, "state": "started"},
    )
    journal = await sara.ok("GET", f"/api/runs/{run}/steps")
    assert [list(step["input"]) for step in journal] == [["hidden"], ["spaceId"], ["text"]]
