"""D1, D5: the MCP inspector's command line as a client of `/mcp`."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

from tests.conditions import until
from tests.gateway_process import open_gateway
from tests.guests.install import script
from tests.world import Person
from tools.web import node

COUNT = 4


async def call(person: Person, folder: Path, tool: str, **arguments: str) -> Any:
    """The structured result of a tool, or None if the call failed."""
    given = [part for name, value in arguments.items() for part in ("--tool-arg", f"{name}={value}")]
    process = await asyncio.create_subprocess_exec(
        *script("@modelcontextprotocol/inspector", "clients/launcher/build/index.js"),
        *("--cli", f"{person.base_url}/mcp"),
        *("--transport", "http", "--header", f"Authorization: Bearer {person.token}"),
        *("--method", "tools/call", "--tool-name", tool, *given),
        env={"HOME": str(folder), "PATH": str(node().parent)}, stdout=PIPE, stderr=PIPE,
    )  # fmt: skip
    shown, _ = await process.communicate()
    return json.loads(shown)["structuredContent"] if process.returncode == 0 else None


async def test_d1_messages_that_are_sent_again_after_a_kill_are_posted_once(tmp_path: Path) -> None:
    async with open_gateway(tmp_path) as gateway:
        space = await gateway.owner.create_space("Words")

        async def send(n: int) -> Any:
            text = f"Message {n}"
            return await call(gateway.owner, tmp_path, "send_message", spaceId=space, text=text, clientId=f"m-{n}")

        async def some_are_posted() -> bool:
            return bool(await gateway.said(space))

        sending = asyncio.gather(*map(send, range(COUNT)))
        await until(some_are_posted)
        await gateway.kill()
        await sending
        await gateway.start()
        assert None not in await asyncio.gather(*map(send, range(COUNT)))
        assert sorted(text for _, text in await gateway.said(space)) == [f"Message {n}" for n in range(COUNT)]


async def test_d5_a_question_that_is_asked_again_after_a_kill_is_one_question(tmp_path: Path) -> None:
    async with open_gateway(tmp_path) as gateway:
        program = await gateway.world.person("CI", type="service")
        space = await gateway.owner.create_space("Releases", program)
        question = {"spaceId": space, "question": "Ship it?", "clientId": "ship-42", "waitSeconds": "300"}
        question |= {"kind": "choice", "options": '["yes", "no"]'}

        async def is_asked() -> bool:
            return bool(await gateway.said(space))

        asking = asyncio.create_task(call(program, tmp_path, "ask_people", **question))
        await until(is_asked)
        await gateway.kill()
        assert await asking is None
        await gateway.start()
        asking = asyncio.create_task(call(program, tmp_path, "ask_people", **question))
        [card] = (await gateway.owner.history(space))["messages"]
        await gateway.owner.ok("POST", f"/api/asks/{card['tool']['ask']['id']}/answers", {"result": "yes"})
        ended = await asking
        assert (ended["status"], [each["result"] for each in ended["answers"]]) == ("answered", [{"choice": "yes"}])
        assert len(await gateway.said(space)) == 1
