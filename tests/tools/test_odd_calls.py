"""J2, J4, J7: malformed calls, and calls whose tool has changed since. The run continues."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from majlis.settings import Settings
from tests.model_server import ModelServer, Reply, call, sequence, silent
from tests.runs import deploy_tools
from tests.runs.deploy_tools import HERE, SCHEMA, tool
from tests.runs.house import House, open_house
from tests.tools.test_tools_in_runs import steps
from tests.world import serve_world

SECRET = "hunter2-and-more"


@pytest.fixture
def allowing(settings: Settings) -> Settings:
    deploy_tools.deployed.clear()
    deploy_tools.release.clear()
    return settings.model_copy(update={"tool_modules": [HERE]})


@pytest.fixture
async def house(allowing: Settings) -> AsyncIterator[House]:
    async with open_house(allowing) as opened:
        yield opened


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def written(name: str, arguments: str) -> Reply:
    """A call with exactly this text."""
    function = {"index": 0, "id": "call_odd", "function": {"name": name, "arguments": arguments}}
    chunk = {"choices": [{"index": 0, "delta": {"tool_calls": [function]}, "finish_reason": "tool_calls"}]}
    return Reply(raw=f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        pytest.param(f'{{"version": "1", "more": {nested(300)}}}', "nested more than", id="deep"),
        pytest.param(f'{{"version": "1", "more": {nested(3000)}}}', "was not called", id="nested too deeply"),
        pytest.param("[" * 60 + "]" * 60, "must be a JSON object", id="a deep list"),
        pytest.param("5", "must be a JSON object", id="a number"),
        pytest.param('{"version": ', "not JSON", id="broken off"),
    ],
)
async def test_j7_input_that_cannot_be_stored_is_an_error_result_and_the_run_goes_on(
    house: House, arguments: str, why: str
) -> None:
    """Regression: the run failed, because deep input broke the database and a bare number broke SQLite."""
    bot = await house.agent("Bot", tools=[tool("deploy", visible=True)])
    space = await house.space("Releases", bot)
    house.model.script = sequence(written("deploy", arguments), call("deploy", version="2"), silent())
    await house.owner.say(space, "go")
    await house.until_idle()
    [run] = await house.runs()
    assert (run["status"], run["error"]) == ("completed", None)
    first, second = await steps(house, run["id"])
    assert (first["state"], second["state"]) == ("error", "done")
    assert why in first["output"]["error"]
    assert first["input"]["malformed"] == arguments[:4096]


async def test_j4_characters_that_no_text_column_takes_are_given_to_the_tool_and_read_back(house: House) -> None:
    """NUL in input: shown in the space, kept in the journal, and readable later."""
    approve = {"name": "approve", "type": "space", "ui": "approval"}
    bot = await house.agent("Bot", tools=[tool("deploy", visible=True), approve])
    space = await house.space("Releases", bot)
    house.model.script = sequence(call("deploy", version="1\0"), call("approve", question="\0?"), silent())
    await house.owner.say(space, "go")
    await house.until_waiting()
    [card] = await house.owner.ok("GET", "/api/tool-calls")
    await house.owner.ok(
        "POST", f"/api/runs/{card['runId']}/tool-results", {"toolCallId": card["toolCallId"], "result": True}
    )
    await house.until_idle()
    [run] = await house.runs()
    assert (run["status"], run["error"]) == ("completed", None)
    assert [step["input"] for step in await steps(house, run["id"])] == [{"version": "1\0"}, {"question": "\0?"}]
    assert [version for version, _ in deploy_tools.deployed] == ["1\0"]


@pytest.mark.parametrize(
    "arguments",
    [
        f'{{"version": "1", "password": "{SECRET}"',
        f'{{"version": "1", "password": "{SECRET}", "more": {nested(300)}}}',
        f'["{SECRET}"]',
        f'{{"version": "1", "password": ["{SECRET}"]}}',
        f'{{"version": "1", "password": "{SECRET}\\n\\"{"x" * 40}"}}',
    ],
)
async def test_j4_a_secret_in_input_that_does_not_fit_is_seen_nowhere(house: House, arguments: str) -> None:
    """Regression: malformed input was kept as text with the password in it, and so was the error message."""
    bot = await house.agent("Bot", tools=[tool("deploy", visible=True, inputSchema=SCHEMA)])
    space = await house.space("Releases", bot)
    house.model.script = sequence(written("deploy", arguments), silent())
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "go")
        await follower.until("run.completed")
    [run] = await house.runs()
    found = await house.owner.ok("GET", f"/api/runs/{run['id']}/steps")
    [step] = await steps(house, run["id"])
    assert step["state"] == "error"
    assert "was not called" in step["output"]["error"]
    assert SECRET not in json.dumps([found, [event.data for event in follower.seen]])


@pytest.mark.parametrize("value", [42, -1.5, 0, True, "42", None, [1]])
async def test_j4_a_result_may_be_any_json_and_is_read_back_as_it_was(house: House, value: Any) -> None:
    """Regression: SQLite could not read back a bare number, so neither the journal nor the run could be read."""
    bot = await house.agent("Bot", tools=[{"name": "fixed", "type": "static", "execution": {"output": value}}])
    space = await house.space("Releases", bot)
    house.model.script = sequence(call("fixed"), silent())
    await house.owner.say(space, "go")
    await house.until_idle()
    [run] = await house.runs()
    [step] = await steps(house, run["id"])
    assert (run["status"], step["output"]) == ("completed", value)


STRICTER = {**SCHEMA, "required": ["version"]}
CHANGES = {
    "another schema": {"tools": [tool("hold", idempotent=True, visible=True, inputSchema=STRICTER)]},
    "denied": {"policy": [{"tools": "hold", "do": "deny"}]},
}


@pytest.mark.parametrize("change", CHANGES)
async def test_j2_an_interrupted_call_that_cannot_be_repeated_stays_unknown(
    allowing: Settings, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """Regression: with a changed schema or policy, the resumed run failed repeatedly or called the tool."""
    # The function blocks until the end of the test; a stopping worker would wait for it.
    monkeypatch.setattr("majlis.runs.worker.GRACE_SECONDS", 0.01)
    async with ModelServer() as model:
        async with serve_world(allowing) as world:
            house = House(world, model)
            bot = await house.agent("Bot", tools=[tool("hold", idempotent=True, visible=True)])
            space = await house.space("Releases", bot)
            model.script = sequence(call("hold"))
            async with house.owner.follow(space) as follower:
                await house.owner.say(space, "go")
                await follower.until_message("")
            await house.owner.ok("PATCH", f"/api/agents/{bot.id}", {"config": CHANGES[change]})
        async with serve_world(allowing) as world:
            house = House(world, model)
            await house.until_idle()
            [run] = await house.runs()
            [shown] = [m["tool"] for m in (await house.owner.history(space))["messages"] if m["kind"] == "tool"]
            [step] = await steps(house, run["id"])
    deploy_tools.release.set()
    assert (run["status"], step["state"]) == ("completed", "started")
    assert (shown["status"], shown["output"]) == ("error", {"status": "unknown"})
    assert "hold was interrupted and was not repeated" in run["notes"][0]
