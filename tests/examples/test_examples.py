"""Each example from start to end: a real server, people over HTTP, and a model that follows the instructions as a pure
function of its prompt."""

from __future__ import annotations

import asyncio
import json
import re
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

from examples.staging import Example, load, names, stage
from majlis.client import MajlisClient
from majlis.settings import Settings
from tests.conditions import until
from tests.model_server import Asked, ModelServer, Reply, by_agent, call, calls, say, silent
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
        async with ModelServer() as model, serve_world(given) as world:
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

    def deployer(asked: Asked) -> Reply:
        done = asked.text + json.dumps(asked.results)
        if '"stage":"live"' in done:
            return say("1.4 is live.") if "is live." not in json.dumps(asked.messages) else silent()
        if "did not approve" in done:
            return say("Then not.") if "Then not." not in json.dumps(asked.messages) else silent()
        if asked.step == 0 and '"stage":"test"' not in done:
            return call("deploy_test", version="1.4")
        return call("deploy_live", version="1.4")

    async with opened("deploy_bot") as scene:
        scene.house.model.script = deployer
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
    def teller(asked: Asked) -> Reply:
        if asked.step:
            return silent()
        if "Everyone please reply" not in asked.text:
            return say("Option A or B? Everyone please reply.")
        votes = dict(re.findall(r'^  \[msg.*?\] (Ahmad|Sarah|Husam) \(human.*?\): "Option ([AB])"', asked.text, re.M))
        if len(votes) < 3:
            return silent(f"{len(votes)} of 3")
        count = [list(votes.values()).count(option) for option in "AB"]
        return say(f"Option {'A' if count[0] > count[1] else 'B'} wins ({max(count)}-{min(count)}).")

    async with opened("team_vote") as scene:
        scene.house.model.script = teller
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
    known = "Revenue $2.1M; the budget is missing"

    def reporter(asked: Asked) -> Reply:
        if not asked.trigger_text:
            return remind(asked)
        if "Budget is $500K" in asked.text:
            return report(asked)
        if asked.step:
            return silent()
        return calls(
            ("set_memories", {"memories": [{"key": "q4_report", "value": known}]}),
            ("set_goals", {"goals": [{"id": "q4", "description": "Complete the Q4 report"}]}),
            ("set_plans", {"plans": [reminder()]}),
            ("send_message", {"text": "Started. I need the budget from Finance."}),
        )

    def report(asked: Asked) -> Reply:
        assert known in asked.text
        match asked.step:
            case 0:
                return call("get_plans", status="active")
            case 1:
                return calls(
                    ("send_message", {"text": "Q4 report: revenue $2.1M, budget $500K."}),
                    ("set_goals", {"goals": [{"id": "q4", "status": "completed"}]}),
                    ("delete_memories", {"keys": ["q4_report"]}),
                    ("delete_plans", {"ids": [plan["id"] for plan in asked.results[0]["plans"]]}),
                )
        return silent()

    def reminder() -> dict[str, str]:
        return {"name": "remind", "instruction": f"Remind Finance in {space} of the budget for Q4", "runAfter": "1 day"}

    def remind(asked: Asked) -> Reply:
        """Triggered by the plan: in no space, with only its memories, goals and plans."""
        assert known in asked.text
        assert "Complete the Q4 report" in asked.text
        match asked.step:
            case 0:
                return call("enter_space", spaceId=re.findall(r"Remind Finance in (spc_\w+)", asked.text)[0])
            case 1:
                return calls(("send_message", {"text": "Finance, the budget?"}), ("set_plans", {"plans": [reminder()]}))
        return silent()

    async with opened("report") as scene:
        house, space = scene.house, scene.space
        house.model.script = reporter
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
    def maestro(asked: Asked) -> Reply:
        view = json.dumps(asked.messages)
        if asked.step:
            return silent()
        if "Turn 2 is finished" in view:
            return say("Your site is ready.")
        if "Turn 1 is finished" in view:
            return call("route", agents=["Coder"])
        return call("route", agents=["Planner"], phase="plan")

    def planner(asked: Asked) -> Reply:
        given = {"phase": "build", "summary": "two pages, green"}
        both = calls(("hand_over", given), ("send_message", {"text": "Two pages: menu and map."}))
        return silent() if asked.step else both

    def coder(asked: Asked) -> Reply:
        return silent() if asked.step else say("Built.")

    async with opened("hand_over") as scene:
        scene.house.model.script = by_agent({"Maestro": maestro, "Planner": planner, "Coder": coder})
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
    def secretary(asked: Asked) -> Reply:
        if asked.step:
            return say("Noted.") if asked.step == 1 else silent()
        wanted = "finish" if "watered" in asked.trigger_text else "add"
        if "called tasks__finish_task" in asked.text:
            return say("Off the list.")
        return call(f"tasks__{wanted}_task", text="water the plants")

    async with opened("mcp_agent") as scene:
        file = tmp_path / "tasks.json"
        [described] = scene.example.agents
        moved = [{**described["mcp"][0], "env": {"TASKS_FILE": str(file)}}]
        await scene.house.owner.ok("PATCH", f"/api/agents/{scene.ids['Secretary']}", {"config": {"mcp": moved}})
        scene.house.model.script = secretary
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
