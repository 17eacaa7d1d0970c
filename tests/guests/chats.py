"""D3: `llm`, a chat program for the terminal, and OpenAI's client for JavaScript, as docs/openai.md sets them up."""

from __future__ import annotations

import asyncio
import re
import sys
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path
from textwrap import dedent

import pytest

from tests.conditions import until
from tests.gateway_process import ROOT, GatewayProcess, open_gateway
from tests.guests.install import HOME, program
from tests.model_server import Asked, ModelServer, Reply, say, silent
from tools.web import node

PAGE = (ROOT / "docs/openai.md").read_text("utf-8")
QUESTION = "Plan the release"
# The line that the blocks of the page need first, and the program that runs them.
FIRST = {
    "js": ("const TOKEN = process.env.TOKEN;", node()),
    "python": ("import os\nTOKEN = os.environ['TOKEN']", sys.executable),
}


def block(kind: str, gateway: GatewayProcess) -> str:
    """The only block of this kind on the page, for this gateway."""
    [found] = re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    return dedent(found).replace("http://localhost:8700", gateway.url)


async def chat(folder: Path, gateway: GatewayProcess, *arguments: str, lines: str = "") -> tuple[int | None, str]:
    """`llm`, with the settings of the page and the key of the owner."""
    (folder / "extra-openai-models.yaml").write_text(block("yaml", gateway), "utf-8")
    (folder / "keys.json").write_text(f'{{"majlis": "{gateway.owner.token}"}}', "utf-8")
    process = await asyncio.create_subprocess_exec(
        program("llm"), *arguments,
        env={"LLM_USER_PATH": str(folder), "HOME": str(folder)}, stdin=PIPE, stdout=PIPE, stderr=STDOUT,
    )  # fmt: skip
    shown, _ = await process.communicate(lines.encode())
    return process.returncode, shown.decode()


async def test_d3_a_chat_in_the_terminal_is_a_conversation(tmp_path: Path) -> None:
    def echo(asked: Asked) -> Reply:
        return silent() if asked.step else say(f"You said {asked.trigger_text}.")

    async with ModelServer(echo) as model, open_gateway(tmp_path) as gateway:
        await gateway.world.agent("Helper", model=model.model)
        code, shown = await chat(tmp_path, gateway, "chat", "-m", "helper", lines="one\ntwo\nquit\n")
        assert code == 0, shown
        assert shown.index("You said one.") < shown.index("You said two.")
        [space] = await gateway.owner.ok("GET", "/api/spaces")
        said = ["one", "You said one.", "two", "You said two."]
        assert [text for _, text in await gateway.said(space["id"])] == said


async def test_d3_a_question_that_is_asked_again_after_a_kill_has_one_answer(tmp_path: Path) -> None:
    thinking, gate = asyncio.Event(), asyncio.Event()

    def answer(asked: Asked) -> Reply:
        thinking.set()
        return silent() if asked.step else Reply([("send_message", {"text": "On Tuesday."})], gate=gate)

    async with ModelServer(answer) as model, open_gateway(tmp_path) as gateway:
        await gateway.world.agent("Helper", model=model.model)
        asking = asyncio.create_task(chat(tmp_path, gateway, "-m", "helper", QUESTION))
        await until(thinking.is_set)
        await gateway.kill()
        # It tries again by itself while the gateway starts, or gives up.
        await gateway.start()
        gate.set()
        await asking
        assert await chat(tmp_path, gateway, "-m", "helper", QUESTION) == (0, "On Tuesday.\n")
        [space] = await gateway.owner.ok("GET", "/api/spaces")
        assert [text for _, text in await gateway.said(space["id"])] == [QUESTION, "On Tuesday."]


@pytest.mark.parametrize("language", ["js", "python"])
async def test_d3_the_examples_with_openais_clients(language: str, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Reply:
        return silent() if asked.step else say("On Tuesday.")

    async with ModelServer(answer) as model, open_gateway(tmp_path) as gateway:
        await gateway.world.agent("Helper", model=model.model)
        # Node looks for modules beside the file.
        file = HOME / f"example.{language.replace('js', 'mjs')}"
        first, interpreter = FIRST[language]
        file.write_text(f"{first}\n{block(language, gateway)}", "utf-8")
        process = await asyncio.create_subprocess_exec(
            str(interpreter), str(file), env={"TOKEN": gateway.owner.token}, stdout=PIPE
        )
        shown, _ = await process.communicate()
    assert (process.returncode, shown.strip()) == (0, b"On Tuesday.")
