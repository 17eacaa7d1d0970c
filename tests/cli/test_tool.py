"""`majlis tool` and `majlis mcp` list and test an agent's tools on the machine of the gateway (J4)."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from majlis.settings import Settings
from tests.cli.command import Command
from tests.tools import sample_functions
from tests.tools.guarded_mcp_server import guarded_server
from tests.tools.web_server import Web, answer, serve_web
from tests.world import serve_world

ROOT = Path(__file__).parents[2]
HERE = sample_functions.__name__
# Speaks the protocol by hand, so it starts at once.
MCP = [sys.executable, "-I", str(ROOT / "tests/tools/hostile_mcp_server.py")]


@pytest.fixture
def engine() -> str:
    """These tests are not about the database."""
    return "sqlite"


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with serve_web() as served:
        yield served


@pytest.fixture
async def scout(local: Command, settings: Settings, web: Web) -> Command:
    """With the database of an agent that has a tool of each kind."""

    def function(name: str) -> dict[str, Any]:
        return {"name": name, "type": "python", "execution": {"function": f"{HERE}:{name}"}}

    tools = [
        {"name": "motto", "type": "static", "execution": {"output": {"a": 1}}},
        function("look_up"), function("throw"), function("nothing"),
        {"name": "shop", "type": "http", "execution": {"url": f"{web.base}/x"}},
    ]  # fmt: skip
    mcp = [{"name": "calc", "command": MCP, "allowedTools": ["fine"]}, {"name": "gone", "command": "no-such-program"}]
    async with serve_world(settings) as world:
        await world.agent("Scout", tools=tools, mcp=mcp)
    return local.given(
        MAJLIS_TOOL_MODULES=HERE,
        MAJLIS_TOOL_PRIVATE_HOSTS=f"127.0.0.1:{web.port}",
        MAJLIS_MCP_COMMANDS=f"{shlex.join(MCP)},no-such-program",
        PYTHONPATH=str(ROOT),
    )


async def test_an_agents_tools_are_listed_with_what_cannot_be_used(scout: Command) -> None:
    found = (await scout.ok("tool", "list", "Scout", "--json")).json
    kinds = {tool["name"]: tool["type"] for tool in found["tools"]}
    assert kinds["send_message"] == "built-in"
    assert {name: kinds[name] for name in ("motto", "look_up", "shop", "calc__fine")} == {
        "motto": "static", "look_up": "python", "shop": "http", "calc__fine": "mcp",
    }  # fmt: skip
    assert "calc__deep" not in kinds
    missing, gone = found["problems"]
    assert "The tool nothing cannot be used" in missing
    assert "The tools of gone (MCP) cannot be used: there is no program no-such-program" in gone
    shown = await scout.ok("tool", "list")
    assert f"{HERE}:look_up" in shown.out
    assert "Looks a word up." in shown.out


async def test_a_tool_can_be_tried_out(scout: Command, web: Web) -> None:
    ran = await scout.ok("tool", "test", "Scout", "look_up", '{"word": "tea"}')
    assert ran.json == "tea in None"
    assert "Called look_up in " in ran.err
    web.answers = lambda asked: answer('"no"', 500)
    failed = await scout("tool", "test", "Scout", "shop", "--json")
    assert failed.code == 1
    assert (failed.json["state"], failed.json["tool"]) == ("error", "shop")
    assert "shop answered 500" in failed.json["result"]["error"]


async def test_a_tool_that_cannot_be_tried_is_reported_in_one_line(scout: Command) -> None:
    """An exception in a tool is not shown as a traceback either."""
    asked = [
        (["test", "Scout", "send_message"], "Ask Scout in a space instead"),
        (["test", "Owner", "motto"], "not an agent"),
    ]
    lines = await asyncio.gather(*(scout.line("tool", *words, code=1) for words, _ in asked))
    for line, (_, reason) in zip(lines, asked, strict=True):
        assert reason in line
    assert "its input is not JSON" in await scout.line("tool", "test", "Scout", "motto", "{word", code=2)
    thrown = await scout("tool", "test", "Scout", "throw", '{"kind": "x"}')
    assert (thrown.code, thrown.json["success"]) == (1, False)


async def test_an_mcp_server_is_tried_out(bare: Command) -> None:
    ran = await bare.ok("mcp", "test", "--json", "--", *MCP)
    [found] = ran.json
    assert [tool["calledAs"] for tool in found["tools"]][:2] == ["server__fine", "server__forged"]
    assert "mcp_commands" in found["notAllowed"]
    assert "Name one server" in await bare.line("mcp", "test", code=2)
    refused = await bare.line("mcp", "test", "ftp://example.com/mcp", code=2)
    assert (
        refused
        == 'ftp://example.com/mcp is not a valid MCP server: it should be a URL such as "https://api.example.com/v1".'
    )


async def test_an_agent_without_servers_is_said_to_have_none(local: Command, settings: Settings) -> None:
    """It used to print nothing."""
    async with serve_world(settings) as world:
        await world.agent("Scout")
    ran = await local.ok("mcp", "test", "--agent", "Scout")
    assert "Scout has no MCP servers." in ran.err


async def test_a_secret_that_a_tool_repeats_is_not_printed(local: Command, settings: Settings) -> None:
    """The output is what a model would read."""
    schema = {"type": "object", "properties": {"x": {"type": "string", "writeOnly": True}}}
    tool = {"name": "echo", "type": "python", "inputSchema": schema, "execution": {"function": f"{HERE}:plain_one"}}
    async with serve_world(settings) as world:
        await world.agent("Scout", tools=[tool])
    known = local.given(MAJLIS_TOOL_MODULES=HERE, PYTHONPATH=str(ROOT))
    assert (await known.ok("tool", "test", "Scout", "echo", '{"x": "hunter2-and-more"}')).json == "***"


async def test_an_agents_servers_are_tried_out(scout: Command) -> None:
    ran = await scout("mcp", "test", "--agent", "Scout")
    assert ran.code == 1
    assert "fine" in ran.out
    assert "no-such-program cannot be used: there is no program" in ran.err


async def test_d6_a_sign_in_at_a_remote_server_is_begun(scout: Command) -> None:
    async with guarded_server() as (port, _):
        command = scout.given(MAJLIS_TOOL_PRIVATE_HOSTS=f"127.0.0.1:{port}", MAJLIS_PUBLIC_URL="https://m.example.com")
        server = f"http://127.0.0.1:{port}"
        begun = (await command.ok("mcp", "sign-in", "vault", f"{server}/mcp", "--json")).json
        assert begun["authorizationUrl"].startswith(f"{server}/authorize?response_type=code&client_id=")
        assert "redirect_uri=https%3A%2F%2Fm.example.com%2Fmcp-sign-in" in begun["authorizationUrl"]
    assert "is not allowed" in await scout.line("mcp", "sign-in", "vault", "https://elsewhere.example.com/mcp", code=1)
