"""Help is quick, has examples that can be typed, and completes."""

from __future__ import annotations

import shlex
import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import PIPE
from collections.abc import Iterator

import typer
from typer.core import TyperGroup

from majlis.cli.examples import EXAMPLES
from majlis.cli.main import COMMANDS, app, load_command
from tests.cli.command import Command

HEAVY = {
    "asyncio", "httpx", "pydantic", "rich", "sqlalchemy", "yaml", "fastapi", "orjson", "structlog",
    "majlis.api", "majlis.gateway", "majlis.settings", "majlis.store",
}  # fmt: skip


def every_command() -> Iterator[tuple[str, object]]:
    for name in COMMANDS:
        command = load_command(name)
        inner = command.commands if isinstance(command, TyperGroup) else {"": command}
        yield from ((f"{name} {verb}".strip(), each) for verb, each in inner.items())


def test_the_summaries_are_those_of_the_commands() -> None:
    for name, (_, summary) in COMMANDS.items():
        said = (load_command(name).help or "").replace("\n", " ")
        assert said.startswith(summary.rstrip(".")), name


def test_every_command_has_examples_that_parse() -> None:
    assert set(EXAMPLES) == {path for path, _ in every_command()}
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    for path, lines in EXAMPLES.items():
        for line in lines:
            assert len(line) <= 76, line
            _, _, typed = line.partition("majlis ")
            arguments = shlex.split(typed.partition(" < ")[0].partition(" > ")[0].rstrip(")"))
            context = typer.Context(root)
            group: object = root
            for word in path.split():
                assert isinstance(group, TyperGroup)
                assert arguments.pop(0) == word, line
                group = group.get_command(context, word)
            assert group is not None
            if "--help" not in arguments:
                group.make_context(path, arguments, parent=context)  # type: ignore[attr-defined]


def test_every_command_that_ends_prints_json() -> None:
    for path, command in every_command():
        options = {name for parameter in command.params for name in parameter.opts}  # type: ignore[attr-defined]
        assert ("--json" in options) == (path not in ("serve", "worker")), path


async def test_help_imports_nothing_heavy() -> None:
    code = "import sys; from majlis.cli.main import execute; execute(['--help']); print(*sys.modules, file=sys.stderr)"
    run = await create_subprocess_exec(sys.executable, "-c", code, stdout=PIPE, stderr=PIPE)
    out, err = await run.communicate()
    assert out.startswith(b"Usage: majlis")
    assert not HEAVY.intersection(err.decode().split())


async def test_help_shows_examples_and_a_shell_completes_commands(bare: Command) -> None:
    shown = (await bare.ok("space", "create", "--help")).out
    assert '  Examples:\n    majlis space create Research --description "What we look' in shown
    completing = bare.given(COMP_WORDS="majlis model ", COMP_CWORD="2", _MAJLIS_COMPLETE="complete_bash")
    assert {"list", "add", "test", "remove"} <= set((await completing.cold.ok()).out.split())
    # Typer would look for a shell among the parents of this process, which a runner in the background has not.
    told = bare.given(_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "_majlis_completion" in (await told.ok("--show-completion", "bash")).out
    assert "Did you mean 'space'?" in await bare.line("spac", code=2)
