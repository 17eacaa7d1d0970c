"""The entry of the `majlis` command: every failure becomes one clear line on stderr and an exit code."""

from __future__ import annotations

import sys

import click
import typer

from majlis import __version__
from majlis.cli.serve import serve
from majlis.errors import ConfigurationError, MajlisError

app = typer.Typer(
    name="majlis",
    help="A gateway where people and AI agents are equal members of shared chat spaces.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(serve)


@app.callback(invoke_without_command=True)
def majlis(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


def run() -> None:
    """0 ok, 1 failed, 2 bad usage or configuration. No traceback reaches a user."""
    try:
        sys.exit(app(standalone_mode=False))
    except click.exceptions.Exit as finished:
        sys.exit(finished.exit_code)
    except click.UsageError as error:
        _fail(f"{error.format_message()} Try --help.", 2)
    except click.Abort:
        _fail("Stopped.", 1)
    except ConfigurationError as error:
        _fail(error.message, 2)
    except MajlisError as error:
        _fail(error.message, 1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): nothing is wrong.
        sys.stderr.close()
        sys.exit(0)


def _fail(message: str, code: int) -> None:
    typer.echo(f"majlis: {message}", err=True)
    sys.exit(code)
