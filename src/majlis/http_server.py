"""Runs the HTTP server: uvicorn, which ends live streams first when it stops."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Iterator
from types import FrameType

import uvicorn

from majlis.api.app import create_app
from majlis.errors import ConfigurationError
from majlis.gateway import Gateway
from majlis.http_protocol import Protocol
from majlis.settings import Settings

_GRACE_SECONDS = 10


class Server(uvicorn.Server):
    def __init__(self, gateway: Gateway) -> None:
        settings = gateway.settings
        config = uvicorn.Config(
            create_app(gateway),
            http=Protocol,
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
        self._stop_requested = asyncio.Event()

    def stop(self) -> None:
        self.should_exit = True
        self._stop_requested.set()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self._stop_requested.set()

    async def main_loop(self) -> None:
        """Waits for the signal to stop, where uvicorn would poll ten times a second."""
        await self.on_tick(0)
        await self._stop_requested.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Uvicorn's own handlers raise the signal again at the end, which makes a normal stop look like a failure."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._gateway.polls.end()
        self._gateway.ask_polls.end()
        self._gateway.hub.end_streams()
        await super().shutdown(sockets)


def bind(settings: Settings) -> socket.socket:
    """Called before the gateway starts, so that a port in use is one clear error."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # asyncio turns off Nagle's algorithm only if the protocol is given. Otherwise a response in two writes would wait
    # 40 ms for the client's delayed acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        raise ConfigurationError(
            f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}. "
            "Choose another port with --port, or stop the program that uses it."
        ) from None
    listener.listen(4096)
    listener.setblocking(False)
    return listener


def address(settings: Settings, listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return settings.public_url or f"http://{shown}:{port}"
