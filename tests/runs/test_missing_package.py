"""A provider whose package is not installed is refused when it is chosen, with the command that installs it."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pytest

from majlis.agents.agents import add_agent
from majlis.agents.config.config import dump_config, parse_config
from tests.api.test_bad_input import assert_error
from tests.runs.house import House
from tests.world import World

COMMAND = f'pip install "pydantic-ai-slim[groq]=={version("pydantic-ai-slim")}"'
MISSING = ["groq:some-model", {"provider": "groq", "name": "some-model"}]


@pytest.mark.parametrize("model", MISSING)
async def test_it_is_refused_when_the_config_is_saved(world: World, model: Any) -> None:
    bot = await world.agent("Bot")
    made = await world.owner.http.post("/api/agents", json={"name": "Other", "config": {"model": model}})
    changed = await world.owner.http.patch(f"/api/agents/{bot.id}", json={"config": {"model": model}})
    for answer in (made, changed):
        assert_error(answer, 422, "invalid_config")
        [problem] = answer.json()["error"]["details"]["errors"]
        assert problem["path"] == "model"
        assert COMMAND in problem["message"]
    assert [agent["name"] for agent in await world.owner.ok("GET", "/api/agents")] == ["Bot"]


async def test_an_own_server_needs_no_package(world: World) -> None:
    model = {"provider": "groq", "name": "m", "baseUrl": "http://127.0.0.1:9/v1"}
    await world.owner.ok("POST", "/api/agents", {"name": "Bot", "config": {"model": model}})


async def test_an_agent_that_has_it_already_can_be_changed_and_its_runs_say_what_to_do(house: House) -> None:
    """J7"""
    config = dump_config(parse_config({"model": "groq:some-model"}))
    bot = await house.world.gateway.db.write(add_agent, "Bot", config)
    await house.owner.ok("PATCH", f"/api/agents/{bot['id']}", {"config": {"instructions": "Be brief."}})
    space = await house.owner.create_space("Lobby")
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": bot["id"]})
    await house.owner.say(space, "hello")
    await house.until_idle()
    [run] = await house.runs()
    assert (run["status"], run["error"]["code"]) == ("failed", "model_misconfigured")
    assert COMMAND in run["error"]["message"]
