"""An ASGI app on a real port, in this process."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.types import ASGIApp

from tests.conditions import until


@asynccontextmanager
async def serving_app(app: ASGIApp, listener: socket.socket | None = None) -> AsyncIterator[int]:
    """Yields the port."""
    listener = listener or socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
    # `_serve` is `serve` without signal handlers, which belong to the test runner.
    task = asyncio.create_task(server._serve([listener]))
    try:
        await until(lambda: server.started or task.done())
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await task
        listener.close()
