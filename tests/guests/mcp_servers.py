"""D6: agents use the reference servers of MCP, as programs. The gateway is killed while a tool works."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from tests.conditions import until
from tests.gateway_process import LEASE_PATIENCE_SECONDS, GatewayProcess, open_gateway
from tests.guests.install import script
from tests.model_server import Asked, ModelServer, Reply, call, say, silent

EVERYTHING = [*script("@modelcontextprotocol/server-everything", "dist/index.js"), "stdio"]
FILES = script("@modelcontextprotocol/server-filesystem", "dist/index.js")


async def until_said(gateway: GatewayProcess, space: str, text: str) -> None:
    async def is_said() -> bool:
        return text in [said for _, said in await gateway.said(space)]

    await until(is_said, LEASE_PATIENCE_SECONDS)


async def test_d6_a_question_of_a_server_is_asked_again_after_a_kill_and_answered_once(tmp_path: Path) -> None:
    """The program that asked has ended with the gateway, so its card is withdrawn. The agent is told that the outcome
    is unknown, and here it calls the tool again."""

    def work(asked: Asked) -> Reply:
        if not asked.results:
            return call("everything__trigger-elicitation-request")
        return silent() if asked.step > 1 else say("Thank you.")

    async with (
        ModelServer(work) as model,
        open_gateway(tmp_path, MAJLIS_MCP_COMMANDS=shlex.join(EVERYTHING)) as gateway,
    ):
        server = {"name": "everything", "command": EVERYTHING}
        agent = await gateway.world.agent("Clerk", model=model.model, mcp=[server])
        space = await gateway.owner.create_space("Forms", agent)

        async def cards() -> list[Any]:
            messages = (await gateway.owner.history(space))["messages"]
            return [message for message in messages if message["kind"] == "tool"]

        async def is_asked(count: int) -> bool:
            return len(await cards()) == count

        await gateway.owner.say(space, "Fill in the form")
        await until(lambda: is_asked(1))
        await gateway.kill()
        await gateway.start()
        await until(lambda: is_asked(2), LEASE_PATIENCE_SECONDS)
        [_, card] = await cards()
        answer = {"toolCallId": card["tool"]["callId"], "result": {"name": "Ada"}}
        await gateway.owner.ok("POST", f"/api/runs/{card['runId']}/tool-results", answer)
        await until_said(gateway, space, "Thank you.")
        assert [each["tool"]["output"].get("status") for each in await cards()] == ["withdrawn", None]
        assert [text for _, text in await gateway.said(space)].count("Thank you.") == 1
    assert "Ada" in model.asked[-1].text


async def test_d6_a_file_is_changed_once_although_the_gateway_was_killed(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    file = folder / "log.txt"
    file.write_text("begin\n", "utf-8")
    command = [*FILES, str(folder)]

    def work(asked: Asked) -> Reply:
        # After the kill its call is a line of the timeline, whose outcome may be unknown.
        if asked.results or "called files__edit_file" in asked.text:
            return silent() if "messageId" in json.dumps(asked.results) else say("Done.")
        edit = {"oldText": "begin\n", "newText": "begin\nmore\n"}
        return call("files__edit_file", path=str(file), edits=[edit])

    async with ModelServer(work) as model, open_gateway(tmp_path, MAJLIS_MCP_COMMANDS=shlex.join(command)) as gateway:
        agent = await gateway.world.agent("Clerk", model=model.model, mcp=[{"name": "files", "command": command}])
        space = await gateway.owner.create_space("Files", agent)
        await gateway.owner.say(space, "Add a line")
        await until(lambda: file.read_text("utf-8") != "begin\n")
        await gateway.kill()
        await gateway.start()
        await until_said(gateway, space, "Done.")
        assert [text for _, text in await gateway.said(space)] == ["Add a line", "Done."]
    assert file.read_text("utf-8") == "begin\nmore\n"
