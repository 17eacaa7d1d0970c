"""J4: connections to an MCP server: a program with its child processes, and a name with several addresses."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path

import pytest

from majlis.agents.config.config import parse_config
from majlis.errors import MajlisError
from majlis.tools.mcp.connection import Connection
from majlis.tools.mcp.endpoint import find_route
from majlis.tools.mcp.servers import Servers
from majlis.tools.reach.reach import Reach
from majlis.tools.reach.secrets import Secrets
from majlis.tools.toolbox import Allowed, Tools
from tests.conditions import PATIENCE_SECONDS, until
from tests.ports import free_port
from tests.tools.test_mcp import COMMAND, ROOT, serving

on_linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them")


def works(pid: int) -> bool:
    """A zombie that its new parent has not reaped does not count."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@on_linux
async def test_j4_processes_that_a_server_started_end_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: a launcher exited when its input closed, and left its child process running."""
    monkeypatch.chdir(ROOT)
    noted = tmp_path / "pid"
    script = f"sleep 600 >/dev/null 2>&1 & echo $! > '{noted}'; exec {shlex.join([*COMMAND, 'stdio'])}"
    tools = Tools(Allowed(commands=["*"]))
    try:
        assert await tools.open(parse_config({"mcp": [{"name": "calc", "command": ["sh", "-c", script]}]})) == []
        helper = int(noted.read_text())
        assert works(helper)
    finally:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await tools.close()
    await until(lambda: not works(helper))


async def test_j4_the_next_address_of_a_server_is_tried_when_one_does_not_answer() -> None:
    """On most machines `localhost` is ::1 first, but most servers listen only on 127.0.0.1."""
    port = free_port()

    async def two(host: str, port: int) -> list[str]:
        return ["127.0.0.2", "127.0.0.1"]

    servers = Servers(Reach(private_hosts=[f"localhost:{port}"], resolve=two), Secrets(), frozenset())
    [mine] = parse_config({"mcp": [{"name": "calc", "url": f"http://localhost:{port}/mcp"}]}).mcp
    with serving(port):
        try:
            assert await servers.open(mine) is None
            assert "calc__add" in servers.offered(mine)
        finally:
            await servers.close()


@on_linux
async def test_j4_a_server_that_hangs_costs_one_run_its_time_and_not_every_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: after the ten seconds of a failure, each run waited for the server and for its shutdown again."""
    monkeypatch.setattr("majlis.tools.mcp.servers.RETRY_SECONDS", 0.0)
    monkeypatch.setattr("majlis.tools.mcp.servers.CONNECT_SECONDS", 1.0)
    # It ignores SIGTERM, so stopping it takes longer than a run waits.
    starts = tmp_path / "starts"
    script = f"trap '' TERM; echo $$ >> '{starts}'; sleep 60 & wait"
    mine = parse_config({"mcp": [{"name": "calc", "command": ["sh", "-c", script]}]})
    tools = Tools(Allowed(commands=["*"]))
    try:
        [first] = await tools.open(mine)
        assert "within 1 seconds" in first
        await until(starts.exists)
        [started] = map(int, starts.read_text().split())
        assert works(started), "it was waited for until it had ended"
        assert await tools.open(mine) == [first]
    finally:
        await tools.close()
    assert starts.read_text() == f"{started}\n"
    assert not works(started)


@on_linux
async def test_j4_a_server_that_is_being_ended_is_ended_whoever_else_wants_it(tmp_path: Path) -> None:
    """Regression: closing the gateway interrupted the shutdown of a server that hung, and left it running."""
    noted, asked = tmp_path / "pid", tmp_path / "asked"
    # It ignores the end of its input.
    script = f"trap '' TERM; echo $$ > '{noted}'; cat > /dev/null; echo > '{asked}'; sleep 60"
    route = await find_route(
        parse_config({"mcp": [{"name": "calc", "command": ["sh", "-c", script]}]}).mcp[0],
        Reach(),
        Secrets(),
        frozenset({"*"}),
    )
    connection = Connection(route, Reach(), 0.5)
    with pytest.raises(MajlisError, match="within"):
        await connection.ready()
    await until(asked.exists)
    connection.task.cancel()
    async with asyncio.timeout(PATIENCE_SECONDS):
        await asyncio.wait([connection.task])
    assert not works(int(noted.read_text()))
