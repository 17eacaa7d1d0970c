"""Each template of `majlis new` from start to end: a real server, people over HTTP, and a model that follows the
instructions as a pure function of its prompt. Without a model, the demo model plays it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from majlis.cli.agent.apply import apply_files
from majlis.cli.new.template import Template, load, names
from majlis.client import MajlisClient
from majlis.settings import Settings
from tests.conditions import until
from tests.examples.scripts import SCRIPTS
from tests.model_server import ModelServer
from tests.runs.cards import card_in, submit
from tests.runs.house import House, timeline
from tests.world import Person, serve_world


@dataclass
class Scene:
    house: House
    template: Template
    folder: Path
    ids: dict[str, str]
    space: str

    async def person(self, name: str) -> Person:
        return await self.house.world.with_token(self.ids[name], name)

    async def begin(self) -> None:
        await self.house.owner.say(self.space, self.template.say)

    async def last(self) -> tuple[str, str]:
        await self.house.until_idle()
        return (await self.house.texts(self.space))[-1]


Open = Callable[[str], AbstractAsyncContextManager[Scene]]


@pytest.fixture
def opened(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """A template on a gateway, written and applied as its reader does it."""

    @asynccontextmanager
    async def open_template(name: str) -> AsyncIterator[Scene]:
        template, folder = load(name), tmp_path / name
        environment = template.environment_in(folder)
        if "PYTHONPATH" in environment:
            monkeypatch.syspath_prepend(environment["PYTHONPATH"])
            # Another test has imported it from another folder.
            monkeypatch.delitem(sys.modules, "deploy_tools", raising=False)
        lists = {key.removeprefix("MAJLIS_").lower(): [text] for key, text in environment.items() if "MAJLIS_" in key}
        given = settings.model_copy(update=lists)
        async with ModelServer(SCRIPTS[name]) as model:
            file = template.write(folder, json.dumps(model.model))[0]
            async with serve_world(given) as world:
                async with MajlisClient(world.base_url, world.owner.token) as client:
                    assert {each["outcome"] for each in await apply_files(client, [file])} == {"created"}
                    assert {each["outcome"] for each in await apply_files(client, [file])} == {"unchanged"}
                    ids = {each["name"]: each["id"] for each in await client.list_entities()}
                    [space] = [each["id"] for each in await client.list_spaces() if each["name"] == template.space]
                yield Scene(House(world, model), template, folder, ids, space)

    return open_template


async def test_j4_deploy_bot_goes_live_only_with_a_persons_approval(opened: Open) -> None:
    async with opened("deploy-bot") as scene:
        stages = scene.folder / "deployments"
        await scene.begin()
        await scene.house.until_waiting()
        card = await card_in(scene.house, scene.space)
        assert (card["tool"]["name"], card["tool"]["input"]) == ("deploy_live", {"version": "1.4"})
        assert (stages / "test" / "VERSION").read_text() == "1.4"
        assert not (stages / "live").exists()
        assert (await submit(scene.house.owner, card, {"approved": True})).status_code == 200
        assert await scene.last() == ("Deployer", "1.4 is live.")
        assert (stages / "live" / "VERSION").read_text() == "1.4"
        assert len((stages / "live" / "log").read_text().splitlines()) == 1
        shown = [each["tool"] for each in (await scene.house.owner.history(scene.space))["messages"] if "tool" in each]
        assert [(tool["name"], tool["ui"], tool["status"]) for tool in shown] == [
            ("deploy_test", None, "complete"),
            ("deploy_live", "approval", "complete"),
            ("deploy_live", None, "complete"),
        ]


async def test_m2_team_vote_is_counted_in_the_history(opened: Open) -> None:
    async with opened("team-vote") as scene:
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


async def test_r6_r8_hand_over_goes_from_planner_to_programmer_with_a_summary(opened: Open) -> None:
    async with opened("hand-over") as scene:
        await scene.begin()
        assert await scene.last() == ("Maestro", "Your site is ready.")
        assert [text for _, text in await scene.house.texts(scene.space)] == [
            scene.template.say, "Two pages: menu and map.", "Built.", "Your site is ready.",
        ]  # fmt: skip
        [shown] = scene.house.invocations("Programmer")
        assert "**Previous context**: " in shown.text
        assert "two pages, green" in shown.text
        phases = await scene.house.owner.ok("GET", f"/api/spaces/{scene.space}/phases")
        assert "two pages, green" in [phase["summary"] for phase in phases]


async def test_j4_mcp_agent_keeps_tasks_with_a_server_of_its_own(opened: Open) -> None:
    async with opened("mcp-agent") as scene:
        file = scene.folder / "tasks.json"
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


@pytest.mark.parametrize("name", names())
async def test_a_template_plays_to_its_end_with_one_command_and_no_model(name: str, tmp_path: Path) -> None:
    """On a free port, in a folder of its own and with settings of its own, so that it runs beside a server."""
    bare = {"PATH": "", "PYTHONUNBUFFERED": "1", "MAJLIS_DATABASE_URL": "postgresql://nowhere.invalid/x"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "majlis", "new", name, "--play", cwd=tmp_path, stdout=PIPE, stderr=PIPE, env=bare
    )
    said, problems = await process.communicate()
    assert (process.returncode, problems) == (0, b"")
    assert said.decode().splitlines()[-1].partition(": ")[2] == load(name).play[-1]["hear"]
    assert os.listdir(tmp_path) == []
