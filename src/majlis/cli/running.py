"""Running a command's asynchronous part, and giving commands that speak HTTP their client."""

from __future__ import annotations

import asyncio
import inspect
import signal
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, get_type_hints

from majlis.cli.command import ConfigFile, DatabaseUrl, DataDir, TokenEnv, Url, Where

if TYPE_CHECKING:
    from majlis.client import MajlisClient

P = ParamSpec("P")
T = TypeVar("T")

_OPTIONS = {
    "url": Url,
    "token_env": TokenEnv,
    "data_dir": DataDir,
    "database_url": DatabaseUrl,
    "config": ConfigFile,
}


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """As `asyncio.run`; a SIGTERM, too, lets everything that is open be closed first."""

    async def until_told_to_stop() -> T:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work

    try:
        return asyncio.run(until_told_to_stop())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def over_http(command: Callable[Concatenate[MajlisClient, P], Awaitable[None]]) -> Callable[..., None]:
    """A command whose first argument is a client; the options that say which server and who follow its own."""

    @wraps(command)
    def run(**arguments: Any) -> None:
        where = Where(**{name: arguments.pop(name) for name in _OPTIONS})
        run_async(_run_connected(where, command, arguments))

    _, *own = inspect.signature(command).parameters.values()
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in own}
    types = get_type_hints(run, include_extras=True) | _OPTIONS
    asked = [parameter.replace(annotation=types[parameter.name]) for parameter in own]
    where = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in _OPTIONS.items()
    ]
    run.__annotations__ = types
    run.__signature__ = inspect.Signature([*asked, *where])  # type: ignore[attr-defined]
    return run


async def _run_connected(where: Where, command: Callable[..., Awaitable[None]], arguments: dict[str, Any]) -> None:
    from majlis.cli.remote import connected

    async with connected(where) as client:
        await command(client, **arguments)
