"""Running the HTTP server: uvicorn, with live streams ended first when it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Iterator
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from majlis.api.app import create_app
from majlis.api.routes.events import ABORT
from majlis.errors import ConfigurationError
from majlis.gateway import Gateway
from majlis.settings import Settings

_GRACE_SECONDS = 10


class _Protocol(HttpToolsProtocol):
    """Lets a stream cut off a reader that has stalled: ASGI itself has no word for that."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        scope: dict[str, Any] = self.scope  # type: ignore[assignment]
        scope[ABORT] = self.transport.abort


class Server(uvicorn.Server):
    def __init__(self, gateway: Gateway) -> None:
        settings = gateway.settings
        config = uvicorn.Config(
            create_app(gateway),
            http=_Protocol,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=bool(settings.trusted_proxies),
            forwarded_allow_ips=settings.trusted_proxies or None,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=_GRACE_SECONDS,
            backlog=4096,
        )
        super().__init__(config)
        self._gateway = gateway
        self._told_to_stop = asyncio.Event()

    def stop(self) -> None:
        self.should_exit = True
        self._told_to_stop.set()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self._told_to_stop.set()

    async def main_loop(self) -> None:
        """Waits to be told. Uvicorn's own looks ten times a second, which wakes an idle machine for nothing."""
        await self.on_tick(0)
        await self._told_to_stop.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """SIGTERM and Ctrl-C are ways to stop, not failures: unlike uvicorn's own, these do not strike again at
        the end and make the exit code one of a death by signal."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._gateway.hub.end_streams()
        await super().shutdown(sockets)


def bind(settings: Settings) -> socket.socket:
    """Listen before anything else, so that a port in use is one clear line and not a half-started gateway."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # The protocol is named because asyncio turns off Nagle's algorithm only where it is: an answer in two writes would
    # wait 40 ms for the client's delayed acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        raise ConfigurationError(
            f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}. "
            "Choose another with --port, or stop what is using it."
        ) from None
    listener.listen(4096)
    listener.setblocking(False)
    return listener


def address(settings: Settings, listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return settings.public_url or f"http://{shown}:{port}"
