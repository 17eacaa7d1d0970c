"""docs/mcp.md lists every tool of `/mcp` with its input and scopes, and the example works."""

from __future__ import annotations

import re
import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import PIPE
from pathlib import Path

from majlis.api.mcp.toolbox import TOOLS
from tests.conditions import until
from tests.tools.test_docs import inputs
from tests.world import World

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "mcp.md").read_text("utf-8")
_ROW = re.compile(r"^\| `(\w+)` \| `(.*?)` \| (.*?) \|$", re.MULTILINE)


def rows() -> list[tuple[str, str, str]]:
    return [(tool.name, inputs(tool.input_schema), _scopes(tool.needs)) for tool in TOOLS.values()]


def _scopes(needs: tuple[str, ...]) -> str:
    return " or ".join(f"`{scope}`" for scope in needs)


def test_d1_the_page_lists_every_tool_with_its_input_and_scope() -> None:
    assert _ROW.findall(PAGE) == rows()


async def test_d1_the_example_answers(world: World) -> None:
    bot = await world.person("Bot", type="service")
    space = await world.owner.create_space("Kitchen", bot)
    process = await create_subprocess_exec(
        sys.executable,
        *("-m", "examples.mcp_client"),
        cwd=ROOT,
        env={"MAJLIS_URL": world.base_url, "MAJLIS_TOKEN": bot.token, "PATH": ""},
        stdout=PIPE,
    )
    try:
        assert process.stdout is not None
        assert b"Waiting" in await process.stdout.readline()
        asked = await world.owner.say(space, "Ping")

        async def answered() -> bool:
            return [each["replyTo"] for each in (await world.owner.history(space))["messages"]] == [None, asked["id"]]

        await until(answered)
    finally:
        process.kill()
        await process.wait()
