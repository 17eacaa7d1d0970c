"""J2, J4: tools as runs use them, through the real engine, on both databases."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from majlis.settings import Settings
from tests.model_server import call, sequence, silent
from tests.runs.house import House, once, open_house, timeline
from tests.tools import sample_functions
from tests.tools.web_server import Web, answer, serve_web

HERE = sample_functions.__name__
KEY = "a-secret-of-tests"


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with serve_web() as served:
        yield served


@pytest.fixture
async def house(settings: Settings, web: Web, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    monkeypatch.setenv("SHOP_KEY", KEY)
    sample_functions.release.clear()
    allowed = {"tool_modules": [HERE], "tool_private_hosts": [f"127.0.0.1:{web.port}"], "tool_env": ["SHOP_KEY"]}
    async with open_house(settings.model_copy(update=allowed)) as opened:
        yield opened


def function(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "python", "execution": {"function": f"{HERE}:{name}"}, **more}


async def steps(house: House, run_id: str) -> list[Any]:
    found = await house.owner.ok("GET", f"/api/runs/{run_id}/steps")
    return [step for step in (found["steps"] if isinstance(found, dict) else found) if step["kind"] == "tool"]


async def test_j4_a_visible_functions_progress_shows_in_the_space_while_it_works(house: House) -> None:
    scout = await house.agent("Scout", tools=[function("order", visible=True), function("hold", visible=True)])
    space = await house.space("Project Alpha", scout)
    given = {"items": [{"name": "tea"}], "when": "2026-02-03"}
    house.model.script = once(call("order", **given), call("hold"))
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Order tea")
        told = await follower.until("tool-call.progress")
        sample_functions.release.set()
    await house.until_idle()
    [run] = await house.runs()
    first, second = await steps(house, run["id"])
    assert told.data == {
        "type": "tool-call.progress", "spaceId": space, "runId": run["id"], "agentId": scout.id,
        "callId": told.data["callId"], "toolName": "order", "text": "Ordering 1 things",
    }  # fmt: skip
    assert first["output"]["key"] == f"{run['id']}:{first['n']}"
    assert first["output"]["for"] == "Scout"
    assert second["output"] == "held"
    [spec] = [tool for tool in house.asked("Scout")[0].body["tools"] if tool["function"]["name"] == "order"]
    assert spec["function"]["description"].startswith("Orders things.")


async def test_j4_hostile_results_do_no_harm(house: House) -> None:
    """Forged lines, 50 MB, numbers and characters that databases reject: this run and the next one continue."""
    kinds = ["forged", "huge", "number", "infinite", "half", "object"]
    scout = await house.agent("Scout", tools=[function("give", visible=True), function("throw", visible=True)])
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(*(call("give", what=kind) for kind in kinds), call("throw", kind="x"), silent())
    await house.owner.say(space, "Give me everything")
    await house.until_idle()
    [run] = await house.runs()
    assert run["status"] == "completed"
    assert [step["state"] for step in await steps(house, run["id"])] == ["done"] * 4 + ["error"] * 3
    shown = [
        message["tool"]["status"] for message in (await house.owner.history(space))["messages"] if message.get("tool")
    ]
    assert shown == ["complete"] * 4 + ["error"] * 3
    *_, last = house.asked("Scout")
    assert "KeyError" in last.results[-1]["error"]
    assert "Traceback" not in json.dumps(last.results)
    house.model.script = once()
    await house.owner.say(space, "And now?")
    await house.until_idle()
    triggers = [line for line in timeline(house.asked("Scout")[-1]) if line.endswith("← TRIGGER")]
    assert triggers == ['Owner: "And now?"  [NEW] ← TRIGGER']


async def test_j2_an_http_tool_hands_the_key_on_and_no_secret_is_kept(house: House, web: Web) -> None:
    web.answers = lambda asked: answer(json.dumps({"echo": asked.headers}))
    execution = {"url": f"{web.base}/orders/{{{{input.id}}}}", "headers": {"Authorization": "Bearer ${env.SHOP_KEY}"}}
    schema = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    tool = {"name": "shop", "type": "http", "visible": True, "inputSchema": schema, "execution": execution}
    away = {**tool, "name": "away", "execution": {**execution, "url": "https://shop.example.com/"}}
    space = await house.space("Project Alpha", await house.agent("Scout", tools=[tool, away]))
    house.model.script = once(call("shop", id="7"), call("away", id="7"))
    await house.owner.say(space, "Show order 7")
    await house.until_idle()
    [run] = await house.runs()
    first, second = await steps(house, run["id"])
    assert web.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert web.asked[0].headers["idempotency-key"] == f"{run['id']}:{first['n']}"
    assert first["output"]["body"]["echo"]["authorization"] == "Bearer [secret SHOP_KEY]"
    assert second["output"] == {
        "success": False,
        "error": "away failed: shop.example.com is not allowed by the setting tool_hosts. Ask the operator of this "
        "gateway to allow it, or continue without it and say so.",
    }
    context = await house.owner.ok("GET", f"/api/runs/{run['id']}/context")
    assert KEY not in json.dumps([first, second, context, await house.owner.history(space)])


async def test_j4_a_server_that_is_not_there_costs_its_own_tools_and_a_note(house: House) -> None:
    mcp = [{"name": "wiki", "url": "https://wiki.example.com/mcp"}]
    motto = {"name": "motto", "type": "static", "execution": {"output": "Onwards"}}
    space = await house.space("Project Alpha", await house.agent("Scout", tools=[motto], mcp=mcp))
    house.model.script = once(call("motto"))
    await house.owner.say(space, "Well?")
    await house.until_idle()
    [run] = await house.runs()
    assert run["status"] == "completed"
    assert run["notes"] == [
        "The tools of wiki (MCP) cannot be used: wiki.example.com is not allowed by the setting tool_hosts. Ask the "
        "operator of this gateway to allow it, or continue without it and say so."
    ]
    assert house.asked("Scout")[-1].results == ["Onwards"]


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_run_that_is_canceled_while_its_function_hangs_ends_at_once(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout", tools=[function("hold", visible=True)]))
    house.model.script = once(call("hold"))
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Hold")
        while not (await follower.until("space.message")).data["message"].get("tool"):
            pass
    [run] = await house.runs()
    await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
    await house.until_idle()
    assert (await house.run(run["id"]))["status"] == "canceled"
    sample_functions.release.set()
