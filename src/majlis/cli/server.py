"""`majlis serve`: the whole gateway in one process."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.command import ConfigFile, DatabaseUrl, DataDir
from majlis.errors import ConfigurationError

if TYPE_CHECKING:
    from majlis.settings import Settings


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one.")] = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    bus_url: Annotated[str | None, typer.Option(help="nats://host:4222, for several processes.")] = None,
    workers: Annotated[int | None, typer.Option(help="Agent runs worked on at once; 0 means none.")] = None,
    config: ConfigFile = None,
) -> None:
    """Start Majlis and print its address and a one-time sign-in link."""
    from majlis.logs import set_up_logging
    from majlis.settings import load_settings, unknown_variables
    from majlis.tracing import set_up_tracing

    flags = {
        "host": host,
        "port": port,
        "data_dir": data_dir,
        "database_url": database_url,
        "bus_url": bus_url,
        "workers": workers,
    }
    settings = load_settings(flags, config_file=config)
    set_up_logging(settings)
    for name in unknown_variables(os.environ):
        typer.echo(f"majlis: warning: {name} is no setting of Majlis and has no effect.", err=True)
    end_tracing = set_up_tracing()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_serve(settings))
    end_tracing()


async def _serve(settings: Settings) -> None:
    from majlis.cli.worker import log_models
    from majlis.gateway import open_gateway
    from majlis.http_server import Server, address, bind

    listener = bind(settings)
    gateway = await open_gateway(settings)
    await gateway.furnish()
    base_url = address(settings, listener)
    link = await gateway.sign_in_link(base_url)
    server = Server(gateway)
    log_models(settings)
    typer.echo(f"Majlis is at {base_url}\nSign in once with {link}\nStop with Ctrl-C.")
    sys.stdout.flush()
    await server.serve(sockets=[listener])
    if not server.started:
        raise ConfigurationError("Majlis could not start; the log above says why.")


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
