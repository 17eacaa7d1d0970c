"""D5: `majlis ask` puts a question to a space; a script goes on by the exit code."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest

from majlis import clock
from majlis.cli.ask import exit_code
from tests.asks.asking import asked, give
from tests.cli.command import Command
from tests.conditions import until
from tests.world import World

# This command does not use the database; one engine behind the server is enough.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


async def only_ask(world: World) -> Any:
    found: list[Any] = []

    async def listed() -> bool:
        found[:] = (await world.owner.ok("GET", "/api/waits"))["waits"]
        return len(found) == 1

    await until(listed)
    return found[0]


@pytest.mark.parametrize(("answer", "code"), [("yes", 0), ("no", 10), ("later", 11)])
async def test_d5_the_exit_code_is_the_choice(majlis: Command, world: World, answer: str, code: int) -> None:
    await world.owner.create_space("Releases")
    choices = ("--choice", "yes", "--choice", "no", "--choice", "later")
    running = asyncio.create_task(majlis("ask", "Releases", "Ship it?", *choices, "--wait"))
    await give(world.owner, await only_ask(world), answer)
    ran = await running
    assert (ran.code, ran.out, ran.err) == (code, f"{answer}\n", "")


async def test_d5_it_is_asked_now_and_read_later(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Releases")
    ask_id = (await majlis.ok("ask", "Releases", "Ship it?", "--approval", "--within", "2 hours")).out.strip()
    waited = await majlis("ask", "--show", ask_id, "--timeout", "0.1")
    assert (waited.code, waited.out) == (4, "")
    assert f"majlis ask --show {ask_id} --wait" in waited.err
    await give(world.owner, {"id": ask_id}, {"approved": False, "comment": "Not on a Friday"})
    shown = await majlis("ask", "--show", ask_id)
    assert (shown.code, shown.out) == (10, "declined: Not on a Friday\n")
    assert (await majlis("ask", "--show", ask_id, "--json")).json["status"] == "answered"
    again = [(await majlis.ok("ask", "Releases", "Why?", "--client-id", "b1", "--json")).json["id"] for _ in range(2)]
    assert again[0] == again[1]
    await give(world.owner, {"id": again[0]}, "So\nit is.")
    assert (await majlis.ok("ask", "--show", again[0], "--wait")).out == "So\nit is.\n"
    assert (await world.owner.history(space))["total"] == 2


async def test_d5_a_form_and_several_answers(majlis: Command, world: World, tmp_path: Path) -> None:
    sara = await world.person("Sara")
    await world.owner.create_space("Releases", sara)
    fields = tmp_path / "form.json"
    fields.write_text(json.dumps({"type": "object", "properties": {"version": {"type": "string"}}}))
    options = ("--form", str(fields), "--from", "Sara", "--from", "Owner", "--need", "all")
    ask = (await majlis.ok("ask", "Releases", "Which?", *options, "--json")).json
    assert (ask["need"], ask["fromNames"]) == (2, ["Sara", "Owner"])
    for person in (sara, world.owner):
        assert (await give(person, ask, {"version": person.name})).status_code == 200
    shown = await majlis.ok("ask", "--show", ask["id"])
    assert shown.out == 'Sara: {"version": "Sara"}\nOwner: {"version": "Owner"}\n'


async def test_d5_an_expired_question_has_its_own_exit_code(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Releases")
    ask = await asked(world.owner, space, within="1 minute")
    clock.advance(60_000)
    shown = await majlis("ask", "--show", ask["id"], "--wait")
    assert (shown.code, shown.out, shown.err) == (3, "", "majlis: It expired without the answers that it needs.\n")


async def test_d5_ctrl_c_leaves_the_question_open(majlis: Command, world: World) -> None:
    await world.owner.create_space("Releases")
    async with majlis.running("ask", "Releases", "Ship it?", "--wait") as running:
        ask = await only_ask(world)
        await until(lambda: bool(world.gateway.ask_polls._woken))
        assert await running.stop(signal.SIGINT) == 130
        assert f"majlis ask --show {ask['id']} --wait" in await running.err()
    assert (await world.owner.ok("GET", f"/api/asks/{ask['id']}"))["status"] == "open"


async def test_d5_wrong_usage(majlis: Command, world: World) -> None:
    await world.owner.create_space("Releases")
    assert "Give a space and a question" in await majlis.line("ask", "Releases", code=2)
    both = ("--approval", "--choice", "yes")
    assert "only one of" in await majlis.line("ask", "Releases", "Ship?", *both, code=2)
    assert "--need is a number" in await majlis.line("ask", "Releases", "Ship?", "--need", "some", code=2)
    assert "Cannot read" in await majlis.line("ask", "Releases", "Ship?", "--form", "none.json", code=2)
    assert "There is no ask" in await majlis.line("ask", "--show", "ask_0000000000000000", code=1)
    assert (await world.owner.ok("GET", "/api/waits"))["waits"] == []


@pytest.mark.usefixtures("engine")
def test_d5_with_several_answers_only_yes_from_all_is_yes() -> None:
    def code(*approved: bool) -> int:
        answers = [{"result": {"approved": each}, "late": False} for each in approved]
        found: Any = {"status": "answered", "kind": "approval", "answers": answers}
        return exit_code(found)

    assert (code(True, True), code(True, False), code(False)) == (0, 10, 10)
