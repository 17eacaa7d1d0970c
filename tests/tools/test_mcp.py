"""J4: a real MCP server over both transports. A server that hangs or dies affects only its own tools."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.types import CallToolResult, TextContent

from majlis.agents.config.config import AgentConfig, parse_config
from majlis.errors import MajlisError
from majlis.runs.calls.call import outcome
from majlis.tools.mcp.offer import name_tools
from majlis.tools.mcp.result_content import result_json
from majlis.tools.toolbox import Allowed, Tools, built_in_tools
from tests.conditions import PATIENCE_SECONDS, until
from tests.ports import free_port
from tests.tools.web_server import answer, context, serve_web

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "tests.tools.sample_mcp_server"]
ALL = ["add", "who", "say", "huge", "picture", "fail", "hang", "die", "work", "odd_name_with_spaces", "large"]


@contextmanager
def serving(port: int) -> Iterator[subprocess.Popen[bytes]]:
    command = [*COMMAND, "http", str(port)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"listening\n"
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    chosen = free_port()
    with serving(chosen):
        yield chosen


def config(*servers: dict[str, Any]) -> AgentConfig:
    return parse_config({"mcp": list(servers)})


def by_command(**more: Any) -> dict[str, Any]:
    return {"name": "calc", "command": [*COMMAND, "stdio"], **more}


def by_url(port: int, **more: Any) -> dict[str, Any]:
    return {"name": "calc", "url": f"http://127.0.0.1:{port}/mcp", **more}


@pytest.fixture
async def tools(port: int, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Tools]:
    monkeypatch.setenv("CALC_KEY", "a-secret-of-tests")
    monkeypatch.chdir(ROOT)
    made = Tools(Allowed(private_hosts=[f"127.0.0.1:{port}"], env=["CALC_KEY"], commands=["*"]))
    yield made
    await made.close()


@pytest.fixture(params=["stdio", "http"])
def server(request: pytest.FixtureRequest, port: int) -> dict[str, Any]:
    return by_command() if request.param == "stdio" else by_url(port)


async def call(tools: Tools, config: AgentConfig, name: str, input: Any = None, **more: Any) -> Any:
    found = tools.find(config, f"calc__{name}")
    assert found is not None
    assert found.outside
    return await found.act(context(**more), found.parse(json.dumps(input or {})))


async def fails(tools: Tools, config: AgentConfig, name: str, input: Any = None) -> str:
    with pytest.raises(MajlisError) as error:
        await call(tools, config, name, input)
    return error.value.message


def foreign(tools: Tools, config: AgentConfig) -> list[str]:
    return [spec.name for spec in tools.specs(config)][len(built_in_tools()) :]


@pytest.mark.parametrize(
    ("texts", "structured"),
    [
        (['{\n  "a": 1\n}'], {"a": 1}),
        (["odd"], {"result": "odd"}),
        (["hello"], {"content": "hello"}),
        (["1", '{"b": 2}', "three"], {"result": [1, {"b": 2}, "three"]}),
    ],
)
def test_f5_content_that_a_server_sends_as_text_and_as_data_is_shown_once(texts: list[str], structured: Any) -> None:
    blocks = [TextContent(type="text", text=text) for text in texts]
    found = result_json(CallToolResult(content=[*blocks], structured_content=structured))
    assert found == {"success": True, "structured": structured}


async def test_its_tools_come_after_the_agents_own_and_answer(tools: Tools, server: dict[str, Any]) -> None:
    """One test for everything that works, over both transports: starting a server takes a second."""
    mine = config(server)
    assert await tools.open(mine) == []
    assert foreign(tools, mine) == [f"calc__{name}" for name in ALL]
    spec = next(spec for spec in tools.specs(mine) if spec.name == "calc__add")
    assert spec.description == "Adds two numbers."
    assert spec.schema["required"] == ["a", "b"]
    assert await call(tools, mine, "add", {"a": 1, "b": 2}) == {"success": True, "structured": {"result": 3}}
    assert await call(tools, mine, "odd_name_with_spaces") == {"success": True, "structured": {"result": "odd"}}
    assert await call(tools, mine, "say", {"text": "two\nlines"}) == {"success": True, "text": "two\nlines"}
    assert (await call(tools, mine, "picture"))["attachments"] == [
        {"type": "image", "mimeType": "image/png", "bytes": 12}
    ]
    assert "no such order" in await fails(tools, mine, "fail")
    assert "returned an error" in await fails(tools, mine, "add", {"a": "x"})
    told: list[str] = []
    await call(tools, mine, "work", tell=told.append)
    assert told == ["half done"]
    with pytest.raises(MajlisError, match="must be a JSON object"):
        tools.find(mine, "calc__add").parse("[]")  # type: ignore[union-attr]
    # A long response is truncated, and the next call works.
    assert "calc__huge failed" in await fails(tools, mine, "huge", {"megabytes": 50})
    assert await call(tools, mine, "add", {"a": 2, "b": 2}) == {"success": True, "structured": {"result": 4}}


async def test_runs_and_agents_share_a_connection_and_choose_their_tools(tools: Tools) -> None:
    """The command inherits no variables except those of its config."""
    env = {"KEY": "${env.CALC_KEY}", "MODE": "test"}
    one, other = config(by_command(env=env)), config(by_command(name="sums", allowedTools=["add", "gone"], env=env))
    assert [*await asyncio.gather(tools.open(one), tools.open(other), tools.open(one))] == [[], [], []]
    assert foreign(tools, other) == ["sums__add"]
    assert tools.find(other, "sums__die") is None
    first, second = await asyncio.gather(call(tools, one, "who"), call(tools, one, "who"))
    assert first["structured"]["pid"] == second["structured"]["pid"] != os.getpid()
    seen = first["structured"]["env"]
    assert (seen["KEY"], seen["MODE"]) == ("[secret CALC_KEY]", "test")
    assert not [name for name in seen if name.startswith(("CALC", "MAJLIS", "PYTEST"))]
    # Regression: next to a number that JSON libraries reject, the secret was shown.
    assert (await call(tools, one, "large"))["structured"] == {"number": 10**30, "key": "[secret CALC_KEY]"}


async def test_a_command_killed_in_a_call_costs_that_call_and_is_started_again(tools: Tools) -> None:
    mine = config(by_command(), {"name": "other", "command": [*COMMAND, "stdio"], "env": {"A": "b"}})
    await tools.open(mine)
    other = tools.find(mine, "other__hang")
    assert other is not None
    assert other.outside
    waiting = asyncio.create_task(other.act(context(), {}))
    first = (await call(tools, mine, "who"))["structured"]["pid"]
    message = await fails(tools, mine, "die")
    assert "calc__die failed" in message
    assert "It is unknown whether it had an effect" in message
    assert (await call(tools, mine, "who"))["structured"]["pid"] != first
    assert not waiting.done()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_server_killed_in_a_call_is_reached_again_when_it_is_back(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("majlis.tools.mcp.servers.RETRY_SECONDS", 0.0)
    chosen = free_port()
    own = Tools(Allowed(private_hosts=[f"127.0.0.1:{chosen}"]))
    mine = config(by_url(chosen))
    try:
        with serving(chosen) as process:
            assert await own.open(mine) == []
            hanging = asyncio.create_task(fails(own, mine, "hang"))
            assert (await call(own, mine, "add", {"a": 1, "b": 1}))["success"]
            process.kill()
            assert "calc__hang failed" in await hanging
            process.wait()
            refused = await fails(own, mine, "add", {"a": 1, "b": 2})
            assert refused.startswith("calc__add failed")
            # The server was not reached, so the call had no effect.
            assert "It was not called" in refused
        with serving(chosen):
            assert await own.open(mine) == []
            assert (await call(own, mine, "add", {"a": 1, "b": 2}))["structured"] == {"result": 3}
    finally:
        await own.close()


async def test_a_call_that_hangs_ends_in_time_and_the_others_go_on(tools: Tools, port: int) -> None:
    # Both configs share the connection.
    mine, hasty = config(by_url(port)), config(by_url(port, timeoutSeconds=1))
    await tools.open(mine)
    hanging = asyncio.create_task(fails(tools, hasty, "hang"))
    assert (await call(tools, mine, "add", {"a": 1, "b": 2}))["success"]
    assert "did not respond in time" in await hanging
    assert (await call(tools, mine, "add", {"a": 1, "b": 2}))["success"]


async def test_servers_that_cannot_be_used_are_told_and_the_rest_works(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not allowed, unreachable, silent, not an MCP server: each is one sentence for the run, within the timeout."""
    monkeypatch.chdir(ROOT)
    silent = socket.create_server(("127.0.0.1", 0))
    hole, closed = silent.getsockname()[1], free_port()

    def garbage(asked: object) -> bytes:
        return answer("<html>", kind="text/html")

    async with serve_web() as web:
        web.answers = garbage
        allowed = [f"127.0.0.1:{each}" for each in (port, hole, closed, web.port)]
        tools = Tools(Allowed(private_hosts=allowed, commands=["sleep 60", "no-such-program", "echo hello"]))
        mine = config(
            by_url(port),
            {"name": "elsewhere", "url": "http://mcp.example.com/"},
            {"name": "secretive", "url": f"http://127.0.0.1:{port}/", "headers": {"X-Key": "${env.NOPE}"}},
            {"name": "shell", "command": "bash -c true"},
            {"name": "missing", "command": "no-such-program"},
            {"name": "sleeper", "command": "sleep 60"},
            {"name": "babbler", "command": "echo hello"},
            {"name": "hole", "url": f"http://127.0.0.1:{hole}/mcp"},
            {"name": "closed", "url": f"http://127.0.0.1:{closed}/mcp"},
            {"name": "page", "url": f"{web.base}/mcp"},
        )
        await tools.open(config(by_url(port)))
        monkeypatch.setattr("majlis.tools.mcp.servers.CONNECT_SECONDS", 1.0)
        notes = await tools.open(mine)
        said = {note.split("of ")[1].split(" ")[0]: note for note in notes}
        assert foreign(tools, mine) == [f"calc__{name}" for name in ALL]
        assert (await call(tools, mine, "add", {"a": 1, "b": 2}))["success"]
        assert await tools.open(mine) == notes, "a failure is remembered for a moment"
        await tools.close()
    silent.close()
    for name, reason in {
        "elsewhere": "tool_hosts", "secretive": "tool_env", "shell": "mcp_commands", "missing": "no program",
        "sleeper": "within 1 seconds", "babbler": "", "hole": "within 1 seconds", "closed": "", "page": "",
    }.items():  # fmt: skip
        assert reason in said[name]
        assert said[name].startswith(f"The tools of {name} (MCP) cannot be used: ")
        assert len(said[name]) < 400


async def test_an_unused_connection_is_closed(tools: Tools) -> None:
    mine = config(by_command())
    await tools.open(mine)
    pid = (await call(tools, mine, "who"))["structured"]["pid"]
    tools.servers.close_idle(60.0)
    assert lives(pid)
    tools.servers.close_idle(0.0)
    await gone(pid)
    assert tools.find(mine, "calc__who") is not None, "a run that was told of it may still call it"


async def test_closing_does_not_wait_for_a_server_that_never_answers() -> None:
    tools = Tools(Allowed(commands=["sleep 60"]))
    opening = asyncio.create_task(tools.open(config({"name": "sleeper", "command": "sleep 60"})))
    await until(lambda: tools.servers._connections)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await tools.close()
        [note] = await opening
    assert "sleeper" in note


async def gone(pid: int) -> None:
    """A child process that has ended and been reaped."""
    await until(lambda: not lives(pid))


def lives(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


async def test_a_redirect_of_a_server_is_not_followed_elsewhere(port: int) -> None:
    async with serve_web() as web:
        web.answers = lambda asked: answer(b"", 307, Location=f"http://127.0.0.1:{port}/mcp")
        tools = Tools(Allowed(private_hosts=[f"127.0.0.1:{web.port}"]))
        [note] = await tools.open(config(by_url(web.port)))
        assert "not followed" in note
        await tools.close()


def test_names_fit_what_providers_take_and_differ() -> None:
    names = name_tools("calc", ["add", "a.b", "a/b", "x" * 100, "x" * 101, "ü"])
    assert list(names.values()) == ["add", "a.b", "a/b", "x" * 100, "x" * 101, "ü"]
    assert len(names) == 6
    assert list(names)[:2] == ["calc__add", "calc__a_b"]
    assert all(len(name) <= 64 and name.replace("_", "a").replace("-", "a").isalnum() for name in names)


def test_mcp_is_not_imported_until_a_server_is_needed() -> None:
    script = "import sys, majlis.gateway; print('mcp' in sys.modules, 'httpx2' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown == "False False\n"


@pytest.mark.parametrize("name", ["forged", "half", "long", "deep", "bytes", "number", "shape", "nonsense", "endless"])
async def test_a_hostile_server_does_no_harm(name: str) -> None:
    """Its output becomes a bounded result or an error at once, and the next call works."""
    tools = Tools(Allowed(commands=["*"]))
    script = str(Path(__file__).parent / "hostile_mcp_server.py")
    mine = config({"name": "calc", "command": [sys.executable, "-I", script], "timeoutSeconds": 5})
    try:
        assert await tools.open(mine) == []
        specs = tools.specs(mine)[len(built_in_tools()) :]
        assert len({spec.name for spec in specs}) == len(specs) <= 256
        assert all(spec.schema["type"] == "object" and len(json.dumps(spec.schema)) < 70_000 for spec in specs)
        assert all(len(spec.description) <= 4096 and "\0" not in spec.description for spec in specs)
        found, fine = tools.find(mine, f"calc__{name}"), tools.find(mine, "calc__fine")
        assert found is not None
        assert fine is not None
        assert found.outside
        assert fine.outside
        output, _ = await outcome(found, context(), {})
        assert len(json.dumps(output, ensure_ascii=False).encode()) < 200_000
        assert await outcome(fine, context(), {}) == ({"success": True, "text": "fine"}, "done")
    finally:
        await tools.close()
