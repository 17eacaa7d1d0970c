"""`majlis serve`, `majlis worker` and `majlis migrate`."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from majlis.cli.command import AsJson, BusUrl, ConfigFile, DatabaseUrl, DataDir, Where, on_database
from majlis.cli.terminal import print_line, print_result, working
from majlis.errors import ConfigurationError

if TYPE_CHECKING:
    from majlis.settings import Settings

Wait = Annotated[bool, typer.Option("--wait", help="Wait until PostgreSQL accepts connections, instead of exiting.")]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Start-up makes little garbage, and looking for it takes a tenth of the time. `_started` turns it on again."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@_no_collection()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 selects a free one.")] = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    bus_url: BusUrl = None,
    workers: Annotated[int | None, typer.Option(help="Maximum number of concurrent agent runs; 0 for none.")] = None,
    config: ConfigFile = None,
    wait: Wait = False,
) -> None:
    """Start the server. On a terminal it prints a sign-in link."""
    from majlis.settings import load_settings, unknown_variables

    flags = {"host": host, "port": port, "data_dir": data_dir, "database_url": database_url}
    settings = load_settings({**flags, "bus_url": bus_url, "workers": workers}, config_file=config)
    for name in unknown_variables(os.environ):
        typer.echo(f"majlis: warning: {name} is not a Majlis setting and has no effect.", err=True)
    _run(settings, _serve(settings, wait))


@_no_collection()
def worker(
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    bus_url: BusUrl = None,
    workers: Annotated[int | None, typer.Option(help="Maximum number of concurrent agent runs.")] = None,
    config: ConfigFile = None,
    wait: Wait = False,
) -> None:
    """Run agents only, without HTTP.

    Adds capacity to servers that use the same PostgreSQL database and NATS server.
    """
    from majlis.settings import load_settings

    flags = {"data_dir": data_dir, "database_url": database_url, "bus_url": bus_url, "workers": workers}
    settings = load_settings(flags, config_file=config)
    if settings.embedded or not settings.bus_url:
        raise ConfigurationError(
            "A worker needs the PostgreSQL database and the NATS server of the gateway. Set --database-url "
            "postgresql://… and --bus-url nats://…. With SQLite, `majlis serve` runs the agents."
        )
    if settings.workers == 0:
        raise ConfigurationError("--workers should be 1 or more.")
    _run(settings, _work(settings, wait))


@on_database
async def migrate(where: Where, as_json: AsJson = False) -> None:
    """Create the database, or migrate it to this version.

    `majlis serve` also does this when it starts.
    """
    from majlis.cli.local import opened
    from majlis.store.migrate import migrate as apply
    from majlis.store.migrations import REVISIONS
    from majlis.store.open import shown

    settings, revision = where.settings(), REVISIONS[-1]
    database = shown(settings.database)
    async with opened(settings) as db, working("Migrating the database"):
        applied = await apply(db)
    up_to_date = f"{database} is up to date (revision {revision})."
    text = f"Applied {', '.join(applied)} to {database}." if applied else up_to_date
    print_result({"database": database, "revision": revision, "applied": applied}, as_json, text)


def _run(settings: Settings, work: Coroutine[Any, Any, None]) -> None:
    from majlis.logs import set_up_logging
    from majlis.tracing import set_up_tracing

    set_up_logging(settings)
    end_tracing = set_up_tracing()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(work)
    end_tracing()


def _started() -> None:
    """Later collections skip all objects that exist now, because they live until the end."""
    gc.freeze()
    gc.enable()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        from uvloop import new_event_loop
    except ImportError:
        return None
    return new_event_loop


async def _serve(settings: Settings, wait: bool) -> None:
    from majlis.gateway import open_gateway
    from majlis.http_server import Server, address, bind

    listener = bind(settings)
    gateway = await open_gateway(settings, wait)
    await gateway.create_lobby()
    base_url = address(settings, listener)
    # Keep the link out of logs: their readers could sign in as the owner for an hour.
    link = await gateway.sign_in_link(base_url) if sys.stdout.isatty() else None
    how = f"Sign in once with {link}" if link else "To sign in, get a one-time link with: majlis sign-in-link"
    server = Server(gateway)
    _started()
    _log_models(settings)
    print_line(f"Majlis is running at {base_url}\n{how}\nPress Ctrl-C to stop.")
    await server.serve(sockets=[listener])
    if not server.started:
        raise ConfigurationError("Majlis could not start. See the log above for the reason.")


async def _work(settings: Settings, wait: bool) -> None:
    from majlis.gateway import open_gateway

    gateway = await open_gateway(settings, wait)
    # Not before: a signal must end a worker that waits for the database.
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    _log_models(settings)
    await gateway.start()
    _started()
    print_line(f"Majlis worker is running, with up to {settings.workers} runs at once. Press Ctrl-C to stop.")
    await stop.wait()
    await gateway.close()


def _log_models(settings: Settings) -> None:
    """Logs which models the demo agents can use."""
    import structlog

    from majlis.model_providers import keys_set

    logger = structlog.get_logger("majlis.models")
    keys = keys_set(os.environ)
    if settings.demo_model != "demo":
        logger.info("agents with the model demo use another model", model=settings.demo_model, keys_set=keys)
    elif keys:
        logger.info(
            "demo agents follow rules; an API key is set, so they can use a model: majlis agent set-model --all MODEL",
            keys_set=keys,
        )
    else:
        logger.info("demo agents follow rules; no API key is set (OPENAI_API_KEY, ANTHROPIC_API_KEY …)")
