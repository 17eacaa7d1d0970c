"""D2: a command-line coding agent as an outside agent, with `examples/outside/command.py`."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tests.conditions import until
from tests.gateway_process import LEASE_PATIENCE_SECONDS, open_gateway, running
from tests.guests.install import script
from tests.model_server import Asked, ModelServer, Reply


async def test_d2_pi_writes_a_file_and_its_answer_is_posted_once_although_the_gateway_is_killed(tmp_path: Path) -> None:
    project, thinking, gate = tmp_path / "project", asyncio.Event(), asyncio.Event()
    project.mkdir()
    file = project / "NOTES.md"

    def work(asked: Asked) -> Reply:
        if asked.last["role"] != "tool":
            assert "Write the notes" in asked.text
            return Reply([("write", {"path": str(file), "content": "All is well.\n"})])
        thinking.set()
        return Reply(text="The notes are written.", gate=gate)

    async with ModelServer(work) as model, open_gateway(tmp_path) as gateway:
        agent = await gateway.world.agent("Pi", mind="outside")
        space = await gateway.owner.create_space("Project", agent)
        config = {"baseUrl": model.base_url, "api": "openai-completions", "apiKey": "none", "models": [{"id": "m"}]}
        (tmp_path / "models.json").write_text(json.dumps({"providers": {"scripted": config}}), "utf-8")
        pi = [*script("@mariozechner/pi-coding-agent", "dist/cli.js"), "--print", "--no-session", "--offline"]
        given = {"MAJLIS_URL": gateway.url, "MAJLIS_TOKEN": agent.token}
        given |= {"PI_CODING_AGENT_DIR": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
        command = ("-m", "examples.outside.command", *pi, "--provider", "scripted", "--model", "m")
        async with running(*command, **given):
            await gateway.owner.say(space, "Write the notes")
            await until(thinking.is_set)
            await gateway.kill()
            gate.set()
            await gateway.start()

            async def answered() -> bool:
                return len(await gateway.said(space)) > 1

            await until(answered, LEASE_PATIENCE_SECONDS)
        assert await gateway.said(space) == [("Owner", "Write the notes"), ("Pi", "The notes are written.")]
    assert file.read_text("utf-8") == "All is well.\n"
