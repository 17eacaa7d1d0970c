"""What every request passes: a request id, the limit on bodies, security headers, figures, and a last catch.

Plain ASGI, since a stream that stays open for hours must not hold a stack of wrapped responses.
"""

from __future__ import annotations

import secrets
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from majlis import metrics
from majlis.api.error_responses import error_response, failure_response
from majlis.errors import TooLarge

MAX_BODY = 1024 * 1024

_SECURITY = {
    "content-security-policy": "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; object-src 'none'; "
    "base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class Door:
    def __init__(self, app: ASGIApp, https: bool = False) -> None:
        self.app = app
        headers = dict(_SECURITY)
        if https:
            headers["strict-transport-security"] = "max-age=31536000"
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = secrets.token_hex(8)
        started = time.perf_counter()
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message.get("headers", ()),
                    *self._headers,
                    (b"x-request-id", request_id.encode()),
                ]
                if scope["path"].startswith("/api/"):
                    message["headers"].append((b"cache-control", b"no-store"))
                metrics.count_request(scope, status, time.perf_counter() - started)
            await send(message)

        try:
            receive = await self._limited(scope, receive)
        except TooLarge as error:
            await error_response(error)(scope, receive, send_with_headers)
            return
        try:
            await self.app(scope, receive, send_with_headers)
        except Exception as error:
            if status:
                raise
            await failure_response(error, request_id)(scope, receive, send_with_headers)

    async def _limited(self, scope: Scope, receive: Receive) -> Receive:
        """Refuse a body that says it is too large; read one that does not say (chunked) no further than allowed."""
        headers = dict(scope["headers"])
        length = headers.get(b"content-length")
        if length is not None:
            if not length.isdigit() or int(length) > MAX_BODY:
                raise _too_large()
            return receive
        if b"transfer-encoding" not in headers:
            return receive
        body = b""
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return receive
            body += message.get("body", b"")
            if len(body) > MAX_BODY:
                raise _too_large()
            if not message.get("more_body"):
                return _replayed(body, receive)


def _replayed(body: bytes, receive: Receive) -> Receive:
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _too_large() -> TooLarge:
    return TooLarge("body_too_large", f"A request body may have at most {MAX_BODY} bytes.", {"maxBytes": MAX_BODY})
