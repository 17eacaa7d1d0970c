"""The entry of the `majlis` command: every failure becomes one clear line on stderr and an exit code."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from traceback import extract_tb

import typer

from majlis import __version__
from majlis.cli import mcp, space, token, tool
from majlis.cli.agent import agent
from majlis.cli.chat.chat import chat
from majlis.cli.doctor import doctor
from majlis.cli.transfer import export
from majlis.cli.import_ import import_
from majlis.cli.migrate import migrate
from majlis.cli.run import app as run_app
from majlis.cli.runs import runs
from majlis.cli.send import send
from majlis.cli.server import serve
from majlis.cli.tail import tail
from majlis.cli.terminal import safe_line
from majlis.cli.worker import worker
from majlis.errors import ConfigurationError, MajlisError

app = typer.Typer(
    name="majlis",
    help="A gateway where people and AI agents are equal members of shared chat spaces.",
    add_completion=False,
    # Rich's help panels would double the time that --help takes.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(serve)
app.command(short_help="Run agents only, without HTTP.")(worker)
app.command()(migrate)
app.command()(doctor)
app.add_typer(token.app, name="token")
app.add_typer(space.app, name="space")
app.add_typer(agent.app, name="agent")
app.add_typer(tool.app, name="tool")
app.add_typer(mcp.app, name="mcp")
app.command()(runs)
app.add_typer(run_app, name="run")
app.command()(send)
app.command()(tail)
app.command()(chat)
app.command(short_help="Write a space or the whole gateway as JSON Lines.")(export)
app.command("import", short_help="Read what `majlis export` wrote.")(import_)


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
        # A terminal that cannot show a character must not cost the line it is in.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(execute(sys.argv[1:]))


def execute(arguments: list[str]) -> int:
    """0 ok, 1 failed, 2 bad usage or configuration. No traceback reaches a user."""
    command = typer.main.get_command(app)
    try:
        with command.make_context("majlis", arguments) as context:
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as finished:
        return finished.exit_code
    except typer.TyperException as error:
        return _fail(f"{_sentence(error.format_message())} {_hint(error)}", error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): nothing is wrong, and nothing is left to be flushed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ConfigurationError as error:
        return _fail(error.message, 2)
    except MajlisError as error:
        return _fail(error.message, 1)
    except Exception as error:
        return _fail(_unforeseen(error), 1)
    return 0


def _fail(message: str, code: int) -> int:
    line = " ".join(part.strip() for part in message.splitlines())
    typer.echo(f"majlis: {safe_line(line)}", err=True)
    return code


def _sentence(message: str) -> str:
    return message if message.endswith((".", "?", ")")) else f"{message}."


def _hint(error: typer.TyperException) -> str:
    context: typer.Context | None = getattr(error, "ctx", None)
    return f"Try {context.command_path if context else 'majlis'} --help."


def _unforeseen(error: Exception) -> str:
    """Enough for a report, short enough for a line."""
    *_, last = extract_tb(error.__traceback__)
    what = str(error).strip().splitlines()
    place = f"{Path(last.filename).name}:{last.lineno}"
    return f"Something went wrong that should not: {type(error).__name__} at {place}{f': {what[0]}' if what else ''}."
