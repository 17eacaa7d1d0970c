"""`majlis worker`: more hands. Runs agents only, without HTTP, beside gateways on the same PostgreSQL and NATS."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.command import ConfigFile, DatabaseUrl, DataDir
from majlis.errors import ConfigurationError

if TYPE_CHECKING:
    from majlis.settings import Settings


def worker(
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    bus_url: Annotated[str | None, typer.Option(help="nats://host:4222, the same as of `majlis serve`.")] = None,
    workers: Annotated[int | None, typer.Option(help="Agent runs worked on at once.")] = None,
    config: ConfigFile = None,
) -> None:
    """Run agents, without HTTP: more hands for gateways on the same PostgreSQL and NATS."""
    from majlis.cli.server import loop_factory
    from majlis.logs import set_up_logging
    from majlis.settings import load_settings
    from majlis.tracing import set_up_tracing

    flags = {"data_dir": data_dir, "database_url": database_url, "bus_url": bus_url, "workers": workers}
    settings = load_settings(flags, config_file=config)
    _require_company(settings)
    set_up_logging(settings)
    end_tracing = set_up_tracing()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_work(settings))
    end_tracing()


def log_models(settings: Settings) -> None:
    """A clear word in the log about which models agents will find here."""
    import structlog

    from majlis.models.keys import keys_set

    logger = structlog.get_logger("majlis.models")
    keys = keys_set(os.environ)
    if settings.demo_model != "demo":
        logger.info("agents with the model demo use a real one", model=settings.demo_model, keys_set=keys)
    elif keys:
        logger.info(
            "demo agents follow rules; a key is set, so they can use a real model: majlis agent set-model --all MODEL",
            keys_set=keys,
        )
    else:
        logger.info("demo agents follow rules; no model provider's key is set (OPENAI_API_KEY, ANTHROPIC_API_KEY …)")


def _require_company(settings: Settings) -> None:
    if settings.embedded or not settings.bus_url:
        raise ConfigurationError(
            "A worker needs the PostgreSQL and the NATS server of the gateways it helps: set --database-url "
            "postgresql://… and --bus-url nats://…. With SQLite `majlis serve` runs the agents itself."
        )
    if settings.workers == 0:
        raise ConfigurationError("--workers 0 leaves a worker nothing to do. Choose 1 or more.")


async def _work(settings: Settings) -> None:
    from majlis.gateway import open_gateway

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    gateway = await open_gateway(settings)
    log_models(settings)
    await gateway.start()
    typer.echo(f"Majlis worker: up to {settings.workers} runs at once. Stop with Ctrl-C.")
    sys.stdout.flush()
    await stop.wait()
    await gateway.close()
