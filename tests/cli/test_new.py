"""`majlis new`: agent templates, on a machine with nothing but the command."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import yaml

from majlis.cli.new.template import load, names
from tests.cli.command import Command
from tests.conditions import until
from tests.world import World


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "empty"


async def test_templates_are_listed_with_what_they_show(bare: Command) -> None:
    listed = (await bare.ok("new", "--json")).json
    assert [each["name"] for each in listed] == ["deploy-bot", "hand-over", "mcp-agent", "report", "team-vote"]
    shown = (await bare.ok("new")).out
    assert all(name in shown for name in names())
    assert shown.endswith("Watch one: majlis new deploy-bot --play\n")


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_the_printed_commands_work(majlis: Command, world: World, folder: Path) -> None:
    shown = (await majlis.ok("new", "team-vote")).out
    assert (folder / "team-vote/agents.yaml").is_file()
    *_, apply, send, chat = [line.strip() for line in shown.splitlines()]
    assert apply == "majlis agent apply team-vote/agents.yaml"
    assert (send, chat) == ("majlis send Team 'Team vote: Option A or B?'", "majlis chat Team")
    await majlis.ok("agent", "apply", "team-vote/agents.yaml")
    await majlis.ok("send", "Team", "Team vote: Option A or B?")
    found = {space["name"]: space for space in await world.owner.ok("GET", "/api/spaces")}

    async def asked() -> bool:
        said = (await world.owner.history(found["Team"]["id"]))["messages"]
        return bool(said) and str(said[-1]["text"]) == "Option A or B? Everyone, please reply."

    await until(asked)


async def test_what_the_server_needs_is_printed_first(bare: Command, folder: Path) -> None:
    made = (await bare.ok("new", "deploy-bot", "my bots", "--json")).json
    assert made["files"] == ["my bots/agents.yaml", "my bots/deploy_tools.py"]
    assert made["next"][0] == f"PYTHONPATH='{folder}/my bots' MAJLIS_TOOL_MODULES=deploy_tools majlis serve"
    lines = (await bare.ok("new", "mcp-agent", "tasks")).out.splitlines()
    assert lines[2] == "The server needs its tools. Stop it and start it with:"
    assert lines[3].endswith(" majlis serve")
    [agent] = yaml.safe_load((folder / "tasks/agents.yaml").read_text())["agents"]
    assert agent["mcp"][0]["command"] == [sys.executable, f"{folder}/tasks/task_server.py"]
    # The allowed command line is the one of the agent.
    allowed = load("mcp-agent").environment_in(folder / "tasks")["MAJLIS_MCP_COMMANDS"]
    assert allowed == f"TASKS_FILE= {sys.executable} {folder}/tasks/task_server.py"


async def test_a_model_is_written_and_checked(bare: Command, folder: Path) -> None:
    model = {"provider": "openai", "name": "x", "baseUrl": "http://127.0.0.1:9/v1"}
    await bare.ok("new", "hand-over", "one", "--model", json.dumps(model))
    agents = yaml.safe_load((folder / "one/agents.yaml").read_text())["agents"]
    assert [agent["model"] for agent in agents] == [model] * 3
    for wrong, told in (("{bad", "is not JSON"), ("nonsense", 'should be "provider:name"')):
        assert told in await bare.line("new", "hand-over", "two", "--model", wrong, code=2)
    assert not (folder / "two").exists()


async def test_nothing_is_overwritten_and_errors_name_the_next_command(bare: Command, folder: Path) -> None:
    await bare.ok("new", "report")
    (folder / "report/agents.yaml").write_text("mine")
    line = await bare.line("new", "report", code=2)
    assert line == "report/agents.yaml already exists. Choose another folder: majlis new report FOLDER"
    assert (folder / "report/agents.yaml").read_text() == "mine"
    assert await bare.line("new", "reprot", code=1) == "There is no template named 'reprot'. Did you mean 'report'?"
    assert (await bare.line("new", "x", code=1)).endswith("List them with: majlis new")
    (folder / "file").touch()
    assert "Cannot write to file/inside" in await bare.line("new", "report", "file/inside", code=2)
