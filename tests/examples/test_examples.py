"""Each example from start to end: a real server, people over HTTP, and a model that follows the instructions as a pure
function of its prompt."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from examples.scripts import SCRIPTS
from examples.staging import Example, load, names, stage
from majlis.client import MajlisClient
from majlis.settings import Settings
from tests.conditions import until
from tests.model_server import ModelServer
from tests.runs.cards import card_in, submit
from tests.runs.house import House, timeline
from tests.world import Person, serve_world

ROOT = Path(__file__).parents[2]
BARE = {"PATH": "", "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
README = (ROOT / "examples" / "README.md").read_text("utf-8")


@dataclass
class Scene:
    house: House
    example: Example
    ids: dict[str, str]
    space: str

    async def person(self, name: str) -> Person:
        return await self.house.world.with_token(self.ids[name], name)

    async def begin(self) -> None:
        await self.house.owner.say(self.space, self.example.say)

    async def last(self) -> tuple[str, str]:
        await self.house.until_idle()
        return (await self.house.texts(self.space))[-1]


Open = Callable[[str], AbstractAsyncContextManager[Scene]]


@pytest.fixture
def opened(settings: Settings) -> Open:
    """An example on a gateway, created like `python -m examples` does."""

    @asynccontextmanager
    async def open_example(name: str) -> AsyncIterator[Scene]:
        example = load(name)
        given = settings.model_copy(update=example.settings)
        async with ModelServer(SCRIPTS[name]) as model, serve_world(given) as world:
            async with MajlisClient(world.base_url, world.owner.token) as client:
                await stage(client, example, model.model)
                # A second time creates nothing.
                ids = await stage(client, example, model.model)
            yield Scene(House(world, model), example, ids, ids[example.spaces[0]["name"]])

    return open_example


async def test_j4_deploy_bot_goes_live_only_with_a_persons_approval(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXAMPLE_DEPLOYMENTS", str(tmp_path))

    async with opened("deploy_bot") as scene:
        await scene.begin()
        await scene.house.until_waiting()
        card = await card_in(scene.house, scene.space)
        assert (card["tool"]["name"], card["tool"]["input"]) == ("deploy_live", {"version": "1.4"})
        assert (tmp_path / "test" / "VERSION").read_text() == "1.4"
        assert not (tmp_path / "live").exists()
        assert (await submit(scene.house.owner, card, {"approved": True})).status_code == 200
        assert await scene.last() == ("Deployer", "1.4 is live.")
        assert (tmp_path / "live" / "VERSION").read_text() == "1.4"
        assert len((tmp_path / "live" / "log").read_text().splitlines()) == 1
        shown = [each["tool"] for each in (await scene.house.owner.history(scene.space))["messages"] if "tool" in each]
        assert [(tool["name"], tool["ui"], tool["status"]) for tool in shown] == [
            ("deploy_test", None, "complete"),
            ("deploy_live", "approval", "complete"),
            ("deploy_live", None, "complete"),
        ]


async def test_m2_team_vote_is_counted_in_the_history(opened: Open) -> None:
    async with opened("team_vote") as scene:
        await scene.begin()
        assert await scene.last() == ("Teller", "Option A or B? Everyone please reply.")
        for name, vote in (("Ahmad", "A"), ("Sarah", "B")):
            await (await scene.person(name)).say(scene.space, f"Option {vote}")
            assert await scene.last() == (name, f"Option {vote}")
        await (await scene.person("Husam")).say(scene.space, "Option A")
        assert await scene.last() == ("Teller", "Option A wins (2-1).")
        runs = await scene.house.runs()
        assert [(run["status"], run["usage"]["requests"]) for run in runs] == [
            ("completed", 2), ("completed", 1), ("completed", 1), ("completed", 2),
        ]  # fmt: skip
        # Its tool cannot wait, and its prompt does not mention waits.
        [sending] = [
            tool for tool in scene.house.model.asked[0].body["tools"] if tool["function"]["name"] == "send_message"
        ]
        assert list(sending["function"]["parameters"]["properties"]) == ["text"]


async def _has_run(house: House, times: int) -> bool:
    return len(await house.runs()) >= times


async def test_p1_p2_p3_report_is_built_over_days_with_memory_and_plans(opened: Open) -> None:
    async with opened("report") as scene:
        house, space = scene.house, scene.space
        await scene.begin()
        assert await scene.last() == ("Reporter", "Started. I need the budget from Finance.")
        for day in (1, 2):
            house.advance(86_400 + 60)
            await until(partial(_has_run, house, day + 1))
            assert await scene.last() == ("Reporter", "Finance, the budget?")
        await (await scene.person("Finance")).say(space, "Budget is $500K")
        assert await scene.last() == ("Reporter", "Q4 report: revenue $2.1M, budget $500K.")
        agent = scene.ids["Reporter"]
        assert (await house.owner.ok("GET", f"/api/agents/{agent}/memories")) == []
        [goal] = await house.owner.ok("GET", f"/api/agents/{agent}/goals")
        assert goal["status"] == "completed"
        plans = await house.owner.ok("GET", f"/api/agents/{agent}/plans")
        assert [plan["status"] for plan in plans if plan["status"] == "active"] == []
        assert [run["trigger"]["type"] for run in await house.runs()] == [
            "space_message",
            "plan",
            "plan",
            "space_message",
        ]


async def test_r6_r8_hand_over_goes_from_planner_to_coder_with_a_summary(opened: Open) -> None:
    async with opened("hand_over") as scene:
        await scene.begin()
        assert await scene.last() == ("Maestro", "Your site is ready.")
        assert [text for _, text in await scene.house.texts(scene.space)] == [
            scene.example.say, "Two pages: menu and map.", "Built.", "Your site is ready.",
        ]  # fmt: skip
        [shown] = scene.house.invocations("Coder")
        assert "**Previous context**: " in shown.text
        assert "two pages, green" in shown.text
        phases = await scene.house.owner.ok("GET", f"/api/spaces/{scene.space}/phases")
        assert "two pages, green" in [phase["summary"] for phase in phases]


async def test_j4_mcp_agent_keeps_tasks_with_a_server_of_its_own(opened: Open, tmp_path: Path) -> None:
    async with opened("mcp_agent") as scene:
        file = tmp_path / "tasks.json"
        [described] = scene.example.agents
        moved = [{**described["mcp"][0], "env": {"TASKS_FILE": str(file)}}]
        await scene.house.owner.ok("PATCH", f"/api/agents/{scene.ids['Secretary']}", {"config": {"mcp": moved}})
        await scene.begin()
        assert await scene.last() == ("Secretary", "Noted.")
        assert json.loads(file.read_text()) == ["water the plants"]
        offered = [name for name in scene.house.model.asked[0].tool_names if name.startswith("tasks__")]
        assert sorted(offered) == ["tasks__add_task", "tasks__finish_task", "tasks__list_tasks"]
        await scene.house.owner.say(scene.space, "The plants are watered.")
        await scene.house.until_waiting()
        assert json.loads(file.read_text()) == ["water the plants"]
        await submit(scene.house.owner, await card_in(scene.house, scene.space), True)
        await scene.house.until_idle()
        assert json.loads(file.read_text()) == []
        assert "approved tasks__finish_task, and it was called" in timeline(scene.house.model.asked[-2])[-1]


async def test_the_documented_command_starts_an_example(tmp_path: Path) -> None:
    assert all(f".venv/bin/python -m examples {name} --model …" in README for name in names())
    model: dict[str, Any] = {"provider": "openai", "name": "x", "baseUrl": "http://127.0.0.1:9/v1"}
    arguments = ["team_vote", "--model", json.dumps(model), "--port", "0", "--data-dir", str(tmp_path)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "examples", *arguments, cwd=tmp_path, stdout=PIPE, env=BARE
    )
    assert process.stdout is not None
    people = load("team_vote").people
    async with asyncio.timeout(60):
        about, link, hint, *others = [(await process.stdout.readline()).decode() for _ in range(3 + len(people))]
    assert about == f"{load('team_vote').about}\n"
    assert hint == f"and say in Team: {load('team_vote').say}\n"
    base_url = link.removeprefix("Sign in with ").split("/sign-in/")[0]
    # One person who tries it out plays all people.
    assert [f"To answer as {person}, sign in from a private window with {base_url}" for person in people] == [
        other.split("/sign-in/")[0] for other in others
    ]
    async with httpx.AsyncClient(base_url=base_url) as http:
        assert (await http.get("/api/health")).json()["status"] == "ok"
    process.send_signal(signal.SIGTERM)
    assert await process.wait() == 0


ENDS = {
    "deploy_bot": "Deployer: 1.4 is live.",
    "team_vote": "Teller: Option A wins (2-1).",
    "report": "Reporter: Q4 report: revenue $2.1M, budget $500K.",
    "hand_over": "Maestro: Your site is ready.",
    "mcp_agent": "Secretary: Off the list.",
}


@pytest.mark.parametrize("name", names())
async def test_an_example_plays_to_its_end_with_one_command_and_no_model(name: str, tmp_path: Path) -> None:
    """On a free port and in a folder of its own, so that it runs beside a server."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "examples", name, "--play", cwd=tmp_path, stdout=PIPE, stderr=PIPE, env=BARE
    )
    said, problems = await process.communicate()
    assert process.returncode == 0, problems.decode()
    assert said.decode().splitlines()[-1] == ENDS[name]
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("model", "reason"),
    [("{bad", "is not JSON"), ("nonsense", 'should be "provider:name"'), ('{"provider": "openai"}', "model.name")],
)
async def test_an_invalid_model_is_refused_in_one_line_and_nothing_is_created(
    tmp_path: Path, model: str, reason: str
) -> None:
    """This used to be a traceback, after a gateway had been created."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "examples", "team_vote", "--model", model, "--data-dir", str(tmp_path / "data"),
        cwd=tmp_path, stderr=PIPE, env=BARE,
    )  # fmt: skip
    _, said = await process.communicate()
    *usage, line = said.decode().splitlines()
    assert process.returncode == 2
    assert usage[0].startswith("usage: ")
    assert reason in line
    assert not (tmp_path / "data").exists()
