"""One HTTP connection, with limits that hold before its caller is known: the size and duration of a request, and how
many requests may be arriving at once (G10)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from majlis.api.routes.events import ABORT

MAX_HEAD = 64 * 1024
HEAD_SECONDS = 15.0
# After each period, this many more bytes of a body must have arrived.
BODY_SECONDS = 30.0
BODY_BYTES = 30 * 1024
MAX_ARRIVING = 4096
MAX_ARRIVING_FROM_ONE_ADDRESS = 256


class Protocol(HttpToolsProtocol):
    """Also lets a stream disconnect a client that has stopped reading, which ASGI does not offer."""

    # The part of a request that is arriving, and the part that the timer is for.
    _part: Literal["head", "body", None] = "head"
    _timed: Literal["head", "body", None] = None
    _received = 0
    # Messages that began in the data at hand.
    _begun = 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._follow_part()

    def connection_lost(self, exc: Exception | None) -> None:
        self._part = None
        self._follow_part()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        before, self._begun = self._part, 0
        self._received += len(data)
        super().data_received(data)
        if self._begun == 1 and before != "body":
            # All of it belongs to one head, unless that is complete.
            self._received = len(data)
        if self._part == "head" and self._received > MAX_HEAD:
            self._refuse_head()
        if self._part != self._timed:
            self._follow_part()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        scope: dict[str, Any] = self.scope  # type: ignore[assignment]
        scope[ABORT] = self.transport.abort
        self._part, self._received = "head", 0
        self._begun += 1

    def on_headers_complete(self) -> None:
        self._part = "body"
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > MAX_HEAD:
            self._refuse_head()
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._part = None
        if not self.transport.is_closing():
            super().on_message_complete()

    def _follow_part(self) -> None:
        """The timer runs only for requests that arrive in several pieces, so that others pay nothing for it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._timed = self._part
        if self._part is None:
            _arriving.remove(self)
        elif self._part == "head":
            self._set_timer(HEAD_SECONDS, self.transport.abort)
            _arriving.add(self)
        else:
            self._received = 0
            self._set_timer(BODY_SECONDS, self._check_rate)

    def _check_rate(self) -> None:
        """Reading is paused while the application is slower than the client."""
        if self._received < BODY_BYTES and not self.flow.read_paused:
            self.transport.abort()
        else:
            self._follow_part()

    def _set_timer(self, seconds: float, act: Callable[[], None]) -> None:
        self._timer = self.loop.call_later(seconds, act)

    def _refuse_head(self) -> None:
        message = f"The URL and headers of a request may have at most {MAX_HEAD} bytes."
        error = {"error": {"code": "head_too_large", "message": message, "details": {"maxBytes": MAX_HEAD}}}
        body = orjson.dumps(error)
        head = f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(b"HTTP/1.1 431 Request Header Fields Too Large\r\n" + head.encode() + body)
        self.transport.close()


class _Arriving:
    """Connections whose request has not arrived completely, oldest first. Past a limit the oldest is disconnected."""

    def __init__(self) -> None:
        self._all: dict[Protocol, None] = {}
        self._by_address: dict[str, dict[Protocol, None]] = {}

    def add(self, connection: Protocol) -> None:
        same = self._by_address.setdefault(_address(connection), {})
        same[connection] = self._all[connection] = None
        if len(same) > MAX_ARRIVING_FROM_ONE_ADDRESS:
            next(iter(same)).transport.abort()
        elif len(self._all) > MAX_ARRIVING:
            next(iter(self._all)).transport.abort()

    def remove(self, connection: Protocol) -> None:
        if self._all.pop(connection, connection) is connection:
            return
        same = self._by_address[_address(connection)]
        del same[connection]
        if not same:
            del self._by_address[_address(connection)]


def _address(connection: Protocol) -> str:
    return connection.client[0] if connection.client else ""


_arriving = _Arriving()
