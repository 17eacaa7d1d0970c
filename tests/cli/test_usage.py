"""Help is readable and fast. Wrong usage gets one line, the right exit code, and no traceback."""

from __future__ import annotations

import asyncio
import resource

from majlis import __version__
from tests.cli.command import Command

COMMANDS = ("serve", "migrate", "doctor", "token", "space", "send", "tail", "export", "import")


async def test_help_lists_every_command_with_a_whole_sentence(bare: Command) -> None:
    shown = await bare.ok("--help")
    assert shown == await bare.ok() == await bare.ok("-h")
    for command in COMMANDS:
        [line] = [line for line in shown.out.splitlines() if line.startswith(f"  {command} ")]
        assert line.endswith(".")
        assert not line.endswith("..."), "the summary is too long for the list"


async def test_every_commands_help_fits_a_terminal_and_begins_with_its_usage(bare: Command) -> None:
    asked = [[command, "--help"] for command in COMMANDS]
    asked += [["token", verb, "--help"] for verb in ("create", "list", "revoke", "sign-in")]
    asked += [
        ["space", verb, "--help"] for verb in ("list", "create", "show", "members", "add-member", "remove-member")
    ]
    for arguments, shown in zip(asked, await asyncio.gather(*(bare.ok(*one) for one in asked)), strict=True):
        assert shown.out.startswith(f"Usage: majlis {' '.join(arguments[:-1])} ")
        assert max(len(line) for line in shown.out.splitlines()) <= 80
        assert not shown.err


async def test_help_comes_at_once(bare: Command) -> None:
    """Measured in CPU time, so that a busy machine does not matter. Heavy imports wait until a command runs."""
    loaded = await loaded_by(bare, "--help")
    assert "typer" in loaded
    assert loaded.isdisjoint({"sqlalchemy", "alembic", "pydantic", "fastapi", "httpx", "rich", "nats", "structlog"})
    before = children_seconds()
    await bare.cold.ok("--help")
    assert children_seconds() - before < 0.4


async def test_a_command_loads_what_it_needs_and_nothing_else(bare: Command) -> None:
    """Agents, models and tools would take half the time of commands that only need a database."""
    for command in (["migrate"], ["token", "create", "Owner"], ["doctor"], ["export"]):
        loaded = await loaded_by(bare, *command)
        assert "majlis.store.open" in loaded
        # Only doctor looks at models.
        unneeded = {"majlis.gateway", "majlis.runs", "majlis.tools", "fastapi", "mcp"}
        assert loaded.isdisjoint(unneeded | ({"majlis.models"} if command != ["doctor"] else set()))
    loaded = await loaded_by(bare, "send", "Lobby", "hello", "--url", "http://127.0.0.1:1")
    assert "majlis.client" in loaded
    assert loaded.isdisjoint({"sqlalchemy", "majlis.settings", "majlis.gateway", "structlog"})


async def loaded_by(command: Command, *arguments: str) -> set[str]:
    """The modules that the interpreter reports as imported."""
    shown = await command.cold.given(PYTHONPROFILEIMPORTTIME="1")(*arguments)
    return {line.rpartition("|")[2].strip() for line in shown.err.splitlines() if line.startswith("import time:")}


def children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def test_the_version_is_printed(bare: Command) -> None:
    assert (await bare.cold.ok("--version")).out == f"{__version__}\n"


BAD_USAGE = [
    ["nope"],
    ["--nope"],
    ["serve", "--bogus"],
    ["serve", "--port", "abc"],
    ["serve", "--database-url", "mysql://x"],
    ["serve", "--config", "nowhere.toml"],
    ["serve", "--data-dir", "/proc/majlis"],
    ["migrate", "--data-dir", "/proc/majlis"],
    ["migrate", "--database-url", "postgresql://none@127.0.0.1:1/x"],
    ["token"],
    ["token", "nope"],
    ["token", "create"],
    ["token", "create", "Owner"],
    ["token", "create", "Owner", "--expires", "soon"],
    ["token", "revoke"],
    ["space"],
    ["space", "create", "X", "--triggers", "never"],
    ["space", "add-member", "X"],
    ["space", "add-member", "X", "Y", "--role", "king"],
    ["space", "list", "--url", "here"],
    ["space", "list", "--url", "http://["],
    ["send"],
    ["send", "Lobby"],
    ["tail"],
    ["tail", "Lobby", "--lines", "-1"],
]


async def test_wrong_usage_gets_one_line_and_code_2(bare: Command) -> None:
    for arguments, line in zip(
        BAD_USAGE, await asyncio.gather(*(bare.line(*a, code=2) for a in BAD_USAGE)), strict=True
    ):
        assert len(line) > 20, arguments
        assert line.endswith((".", ")")), line


async def test_a_usage_error_says_where_to_look(bare: Command) -> None:
    told = await bare.line("token", "creat", code=2)
    assert told == "No such command 'creat'. Did you mean 'create'? Try majlis token --help."
    assert await bare.line("send", "x", code=2) == "Missing argument 'TEXT'. Try majlis send --help."


async def test_a_bad_variable_is_named(bare: Command) -> None:
    assert (await bare.given(MAJLIS_WORKERS="many").line("migrate", code=2)).startswith("MAJLIS_WORKERS: ")


async def test_a_terminal_that_cannot_show_a_character_still_shows_the_line(bare: Command) -> None:
    old = bare.cold.given(PYTHONIOENCODING="latin-1")
    assert "\\u4f60.toml" in await old.line("migrate", "--config", "你.toml", code=2)
