"""The entry point of the `majlis` command. Every error becomes one line on stderr and an exit code."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typer.core import TyperGroup

from majlis import __version__
from majlis.cli.terminal import safe_line
from majlis.errors import ConfigurationError, MajlisError

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter

# In the order of `majlis --help`: where each command is, and its first line of help. Only the command that runs is
# imported, because all of them together take as long as Python's own start.
COMMANDS = {
    "serve": ("server:serve", "Start the server."),
    "worker": ("server:worker", "Run agents only, without HTTP."),
    "migrate": ("server:migrate", "Create the database, or migrate it to this version."),
    "upgrade": ("upgrade:upgrade", "Migrate the database to this version, or check what that would do."),
    "doctor": ("doctor:doctor", "Check the installation and suggest fixes."),
    "prove": ("prove:prove", "Check what Majlis promises, under simulated faults."),
    "new": ("new.new:new", "Start from an agent template."),
    "chat": ("chat.chat:chat", "Chat in a space."),
    "send": ("send:send", "Post a message in a space."),
    "ask": ("ask:ask", "Ask the members of a space a question."),
    "tail": ("tail:tail", "Print the last messages of a space, then follow it live."),
    "edit": ("messages:edit", "Change the text of a message that you sent."),
    "delete": ("messages:delete", "Delete a message."),
    "react": ("messages:react", "React to a message with an emoji."),
    "pin": ("messages:pin", "Pin a message to its space."),
    "unpin": ("messages:unpin", "Unpin a message."),
    "pins": ("messages:pins", "List the pinned messages of a space, newest pin first."),
    "pause": ("pause:pause", "Pause an agent, the agents in a space, or all agents."),
    "resume": ("pause:resume", "Resume paused agents."),
    "space": ("space:app", "Manage spaces and their members."),
    "person": ("person:app", "Manage people."),
    "file": ("file:app", "List and download the files of spaces."),
    "agent": ("agent.agent:app", "Manage agents."),
    "model": ("model:app", "Connect models of providers, or of servers of your own."),
    "runs": ("runs:runs", "List runs of agents, newest first."),
    "run": ("runs:app", "Show or cancel a run."),
    "usage": ("usage:usage", "Show what agents have used and what it cost, in USD."),
    "budget": ("budget:app", "Show and set budgets: what agents may cost."),
    "waits": ("waits:waits", "List the open questions of agents and programs, oldest first."),
    "tool": ("tool:app", "List and test the tools of agents."),
    "mcp": ("tool:mcp_app", "Test MCP servers, and sign in to them."),
    "webhook": ("webhook:app", "Connect spaces with other programs, in both directions."),
    "sign-in-link": ("token:sign_in", "Print a link that signs a browser in once, within an hour."),
    "token": ("token:app", "Manage tokens and sign-in links."),
    "access": ("access:app", "List and end tokens, browser sessions and sign-in links."),
    "audit": ("audit:audit", "List administrative acts, newest first."),
    "secret": ("secret:app", "Store model keys and other secrets, encrypted, under a name."),
    "backup": ("backup:backup", "Back up the whole gateway to one file, while it runs."),
    "restore": ("backup:restore", "Restore a backup into an empty data directory."),
    "export": ("transfer:export", "Export a space or the whole gateway as JSON Lines."),
    "import": ("transfer:import_", "Import a file that `majlis export` wrote."),
}
_COMPLETE = "_MAJLIS_COMPLETE"


class _Lazy(TyperGroup):
    def list_commands(self, ctx: Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        if cmd_name not in COMMANDS:
            return None
        if cmd_name not in self.commands:
            self.commands[cmd_name] = load_command(cmd_name)
        return self.commands[cmd_name]

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        if args[0] not in COMMANDS:
            # Their names are needed for "Did you mean".
            for name in COMMANDS:
                self.get_command(ctx, name)
        return super().resolve_command(ctx, args)


def load_command(name: str) -> Command:
    from importlib import import_module

    from majlis.cli.examples import add_examples

    module, _, attribute = COMMANDS[name][0].partition(":")
    found = getattr(import_module(f"majlis.cli.{module}"), attribute)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(name)(found)
        found = alone
    command = typer.main.get_command(found)
    command.name = name
    add_examples(command, name)
    return command


app = typer.Typer(
    name="majlis",
    cls=_Lazy,
    help="Run a Majlis server, manage its spaces and agents, and chat in the terminal.",
    epilog="\b\nExamples:\n  majlis serve\n  majlis model add openai:gpt-5.2\n  majlis chat Lobby",
    # Rich's help panels would double the time that --help takes.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
    if _COMPLETE in os.environ:
        typer.main.get_command(app).main(prog_name="majlis")
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
    from traceback import extract_tb

    *_, last = extract_tb(error.__traceback__)
    text = str(error).strip().splitlines()
    place = f"{Path(last.filename).name}:{last.lineno}"
    return f"Internal error: {type(error).__name__} at {place}{f': {text[0]}' if text else ''}. Please report it."
