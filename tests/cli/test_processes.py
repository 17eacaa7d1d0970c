"""How the tests start the command: a forked command behaves like one that a shell started."""

from __future__ import annotations

import os
import signal

import pytest

from tests.cli.command import Command


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--version"], 0),
        (["space", "--help"], 0),
        (["token", "creat"], 2),
        (["token", "list", "Owner"], 2),
        (["send", "Lobby", "-", "--url", "http://127.0.0.1:1"], 1),
        (["import", "-"], 2),
    ],
)
async def test_a_forked_command_has_the_output_and_exit_code_of_a_cold_one(
    bare: Command, arguments: list[str], code: int
) -> None:
    forked = await bare(*arguments, stdin=b"no export\n")
    assert forked == await bare.cold(*arguments, stdin=b"no export\n")
    assert forked.code == code


async def test_each_has_its_own_environment(bare: Command) -> None:
    assert "MAJLIS_WORKERS" in await bare.given(MAJLIS_WORKERS="many").line("migrate", code=2)
    assert "majlis.db" in (await bare.ok("migrate")).out


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT])
async def test_a_killed_process_is_gone_and_has_printed_nothing(bare: Command, number: int) -> None:
    process = await bare.start("import", "-")
    process.send_signal(number)
    assert await process.wait() == -number
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
    assert await process.communicate() == (b"", b"")
