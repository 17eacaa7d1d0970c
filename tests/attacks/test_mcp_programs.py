"""Running code on the server through an MCP program (G12): `env: {"BASH_ENV": "$(…)"}` in an unsaved preview ran as
the server's user, and with `python3` allowed, any code ran."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from majlis.agents.config.mcp import McpServer
from majlis.errors import Forbidden
from majlis.settings import Settings
from majlis.tools.mcp.endpoint import find_route
from majlis.tools.reach.reach import Reach
from majlis.tools.reach.secrets import Secrets
from tests.runs.house import House, open_house

ALLOWED = ["python3 -m server", "REGION= bash serve.sh"]


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with open_house(settings.model_copy(update={"mcp_commands": ["*"]})) as opened:
        yield opened


async def start(command: list[str], **env: str) -> Any:
    server = McpServer(name="s", command=tuple(command), env=env or None)
    return await find_route(server, Reach(), Secrets(), frozenset(ALLOWED))


@pytest.mark.parametrize(
    ("command", "env"),
    [
        (["python3", "-c", "import os"], {}),
        (["python3"], {}),
        (["python3", "-m", "server", "--more"], {}),
        (["python3", "-m", "server"], {"PYTHONSTARTUP": "x.py"}),
        (["bash", "serve.sh"], {"BASH_ENV": "$(touch /tmp/x)"}),
        (["bash", "serve.sh"], {"REGION": "a", "LD_PRELOAD": "x.so"}),
    ],
)
async def test_g12_only_whole_command_lines_and_named_variables_are_allowed(
    command: list[str], env: dict[str, str]
) -> None:
    with pytest.raises(Forbidden, match="is not allowed by the setting mcp_commands"):
        await start(command, **env)


async def test_g12_an_allowed_line_starts_with_its_variables() -> None:
    assert (await start(["python3", "-m", "server"])).argv == ("python3", "-m", "server")
    assert (await start(["bash", "serve.sh"])).env == {}
    assert (await start(["bash", "serve.sh"], REGION="a")).env == {"REGION": "a"}


async def test_g12_a_preview_starts_no_program(house: House, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    server = {"name": "s", "command": ["sh", "-c", f"echo > '{mark}'"]}
    bot = await house.agent("Bot")
    space = await house.space("Lab", bot)
    body = {"text": "Hello", "spaceId": space, "config": {"mcp": [server]}}
    assert (await house.owner.post(f"/api/agents/{bot.id}/try", body)).status_code == 200
    assert not mark.exists()
