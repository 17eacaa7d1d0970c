"""The options and settings that commands share, and decorators that connect a command to a server or a database."""

from __future__ import annotations

import asyncio
import inspect
import signal
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, TypeVar, get_type_hints

import typer

if TYPE_CHECKING:
    from majlis.client import MajlisClient
    from majlis.settings import Settings

T = TypeVar("T")

DataDir = Annotated[Path | None, typer.Option(help="Directory of the SQLite database and the server key.")]
DatabaseUrl = Annotated[str | None, typer.Option(help="Database: postgresql://… or sqlite:///…")]
BusUrl = Annotated[str | None, typer.Option(help="NATS server for several processes: nats://host:4222")]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="Config file.  [default: ./majlis.toml]")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Url = Annotated[str | None, typer.Option(help="Server URL.  [default: MAJLIS_URL, or host and port of the settings]")]
TokenEnv = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Environment variable with the token.  [default: MAJLIS_TOKEN, MAJLIS_OWNER_TOKEN, or a temporary "
        "token from the local database]",
    ),
]
Space = Annotated[str, typer.Argument(metavar="SPACE", help="Name or id of the space.")]
Entity = Annotated[str, typer.Argument(metavar="NAME", help="Name or id of a person, agent or service.")]
Agent = Annotated[str, typer.Argument(metavar="NAME", help="Name or id of the agent.")]

_DATABASE = {"data_dir": DataDir, "database_url": DatabaseUrl, "config": ConfigFile}
_SERVER = {"url": Url, "token_env": TokenEnv}


@dataclass(frozen=True, slots=True)
class Where:
    """The gateway that a command's options select."""

    data_dir: Path | None = None
    database_url: str | None = None
    config: Path | None = None
    url: str | None = None
    token_env: str | None = None

    def settings(self, log_level: str = "warning") -> Settings:
        """Also sets up the log, for errors of the libraries. The command's own output does not go there."""
        from majlis.logs import set_up_logging
        from majlis.settings import load_settings

        flags = {"data_dir": self.data_dir, "database_url": self.database_url}
        settings = load_settings(flags, config_file=self.config)
        level = "error" if settings.log_level == "error" else log_level
        set_up_logging(settings.model_copy(update={"log_level": level}))
        return settings


def over_http(command: Callable[Concatenate[MajlisClient, ...], Awaitable[None]]) -> Callable[..., None]:
    """Adds the options that select the server and the token. The command gets a connected client."""

    async def run(where: Where, arguments: dict[str, Any]) -> None:
        from majlis.cli.remote import connected

        async with connected(where) as client:
            await command(client, **arguments)

    return _with_options(command, {**_SERVER, **_DATABASE}, run)


def on_database(command: Callable[Concatenate[Where, ...], Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Adds the options that select the database. The command gets them as `Where`."""
    return _with_options(command, _DATABASE, lambda where, arguments: command(where, **arguments))


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Like `asyncio.run`, but SIGTERM also cancels the work, so that everything is closed."""

    async def cancelable() -> T:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work

    try:
        return asyncio.run(cancelable())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def _with_options(
    command: Callable[..., Any],
    options: dict[str, Any],
    execute: Callable[[Where, dict[str, Any]], Coroutine[Any, Any, None]],
) -> Callable[..., None]:
    """Replaces the first parameter of the command by options, after its own."""

    @wraps(command)
    def run(**arguments: Any) -> None:
        where = Where(**{name: arguments.pop(name) for name in options})
        run_async(execute(where, arguments))

    _, *own = inspect.signature(command).parameters.values()
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in own}
    types = get_type_hints(run, include_extras=True) | options
    parameters = [parameter.replace(annotation=types[parameter.name]) for parameter in own]
    for name, kind in options.items():
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind))
    run.__annotations__ = types
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run
