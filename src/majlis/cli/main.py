"""The entry point of the `majlis` command. Every error becomes one line on stderr and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from traceback import extract_tb

import typer
from typer.core import TyperGroup

from majlis import __version__
from majlis.cli import runs, space, token, tool
from majlis.cli.agent import agent
from majlis.cli.chat.chat import chat
from majlis.cli.doctor import doctor
from majlis.cli.send import send
from majlis.cli.server import migrate, serve, worker
from majlis.cli.tail import tail
from majlis.cli.terminal import safe_line
from majlis.cli.transfer import export, import_
from majlis.errors import ConfigurationError, MajlisError

# In the order of `majlis --help`.
_COMMANDS: dict[str, Callable[..., None] | typer.Typer] = {
    "serve": serve,
    "worker": worker,
    "migrate": migrate,
    "doctor": doctor,
    "chat": chat,
    "send": send,
    "tail": tail,
    "space": space.app,
    "agent": agent.app,
    "runs": runs.runs,
    "run": runs.app,
    "tool": tool.app,
    "mcp": tool.mcp_app,
    "token": token.app,
    "export": export,
    "import": import_,
}


class _Ordered(TyperGroup):
    def list_commands(self, ctx: object) -> list[str]:
        return list(_COMMANDS)


app = typer.Typer(
    name="majlis",
    cls=_Ordered,
    help="Run a Majlis server, manage its spaces and agents, and chat in the terminal.",
    add_completion=False,
    # Rich's help panels would double the time that --help takes.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, command in _COMMANDS.items():
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        app.command(name)(command)


@app.callback(invoke_without_command=True)
def majlis(
    context: typer.Context, version: bool = typer.Option(False, "--version", help="Print the version and exit.")
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit


def run() -> None:
    for stream in (sys.stdout, sys.stderr):
        # Characters that the terminal cannot show are escaped.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(execute(sys.argv[1:]))


def execute(arguments: list[str]) -> int:
    """Returns 0 for success, 1 for a failure, 2 for wrong usage or configuration. Users never see a traceback."""
    command = typer.main.get_command(app)
    try:
        with command.make_context("majlis", arguments) as context:
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as finished:
        return finished.exit_code
    except typer.TyperException as error:
        message, place = error.format_message(), getattr(error, "ctx", None)
        stop = "" if message.endswith((".", "?", ")")) else "."
        return _fail(f"{message}{stop} Try {place.command_path if place else 'majlis'} --help.", error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except BrokenPipeError:
        # The reader of the output is gone (`| head`), which is not an error. There is nothing left to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MajlisError as error:
        return _fail(error.message, 2 if isinstance(error, ConfigurationError) else 1)
    except Exception as error:
        return _fail(_internal(error), 1)
    return 0


def _fail(message: str, code: int) -> int:
    line = " ".join(part.strip() for part in message.splitlines())
    typer.echo(f"majlis: {safe_line(line)}", err=True)
    return code


def _internal(error: Exception) -> str:
    """One line that is enough for a bug report."""
    *_, last = extract_tb(error.__traceback__)
    text = str(error).strip().splitlines()
    place = f"{Path(last.filename).name}:{last.lineno}"
    return f"Internal error: {type(error).__name__} at {place}{f': {text[0]}' if text else ''}. Please report it."
