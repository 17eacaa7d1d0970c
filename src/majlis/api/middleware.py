"""Middleware for every request: request id, body limit, security headers, metrics, spans, unexpected errors.

Plain ASGI: a stream that stays open for hours must not hold a stack of wrapped responses.
"""

from __future__ import annotations

import re
import secrets
import time
from functools import cache

from prometheus_client import Counter, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from majlis import metrics, telemetry
from majlis.api.error_responses import DATABASE, error_response, failure_response
from majlis.errors import TooLarge

MAX_BODY = 1024 * 1024
REQUEST_ID = "majlis.request_id"
# The rest of the request's body is not read.
CLOSE = "majlis.close"
# Set once the response has started.
STATUS = "majlis.status"

# Labels of metrics have few values, and a client may send any method.
_METHODS = frozenset({"GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS"})
_TRACED = ("/api/", "/v1/", "/mcp", "/hooks/")
_NOT_TRACED = "/api/health"
_UPLOAD = re.compile(r"POST /api/spaces/[^/]+/files|PUT /api/entities/[^/]+/picture")
_WITHOUT_DATABASE = frozenset({"/api/health/live", "/api/openapi.json", "/api/reference"})
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


class Middleware:
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
        path: str = scope["path"]
        if telemetry.listener is None or not path.startswith(_TRACED) or path.startswith(_NOT_TRACED):
            await self._answer(scope, receive, send)
            return
        with _request_span(scope) as span:
            await self._answer(scope, receive, _telling(span, scope, send))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = scope[REQUEST_ID] = secrets.token_hex(8)
        started = time.perf_counter()

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                status = scope[STATUS] = message["status"]
                # A route may set its own.
                given = {name for name, _ in message.get("headers", ())}
                message["headers"] = [
                    *message.get("headers", ()),
                    *(each for each in self._headers if each[0] not in given),
                    (b"x-request-id", request_id.encode()),
                ]
                if CLOSE in scope:
                    message["headers"].append((b"connection", b"close"))
                if scope["path"].startswith(("/api/", "/v1/", "/mcp")):
                    if b"cache-control" not in given:
                        message["headers"].append((b"cache-control", b"no-store"))
                    if DATABASE.failures and status < 300 and scope["path"] not in _WITHOUT_DATABASE:
                        DATABASE.worked()
                _count(scope, status, time.perf_counter() - started)
            await send(message)

        try:
            receive = await _limited(scope, receive)
            await self.app(scope, receive, send_with_headers)
        except TooLarge as error:
            await error_response(error, scope["path"])(scope, receive, send_with_headers)


class CatchErrors:
    """Answers unexpected errors. It stands inside of Starlette's own error middleware, which would answer first, in
    plain text."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.app(scope, receive, send)
        except Exception as error:
            if scope["type"] != "http" or STATUS in scope:
                raise
            await failure_response(error, scope[REQUEST_ID], scope["path"])(scope, receive, send)


def _request_span(scope: Scope) -> telemetry.Span:
    """The span of a request, to which the runs that it causes are linked (D7). It has no path, since a path may contain
    ids and secrets. The route is added when it is known."""
    parent = next((value for name, value in scope["headers"] if name == b"traceparent"), b"").decode("latin-1")
    about = {"http.request.method": scope["method"], "url.scheme": scope["scheme"]}
    return telemetry.span(scope["method"], about, "server", parent=parent)


def _telling(span: telemetry.Span, scope: Scope, send: Send) -> Send:
    async def tell(message: Message) -> None:
        if message["type"] == "http.response.start":
            _responded(span, scope, message["status"])
        await send(message)

    return tell


def _count(scope: Scope, status: int, seconds: float) -> None:
    route = getattr(scope.get("route"), "path", "unknown")
    method = scope["method"] if scope["method"] in _METHODS else "other"
    counter, histogram = _measured(method, route, status)
    counter.inc()
    histogram.observe(seconds)


@cache
def _measured(method: str, route: str, status: int) -> tuple[Counter, Histogram]:
    """Their labels take longer to find than to count."""
    return metrics.requests.labels(method, route, status), metrics.request_seconds.labels(method, route)


def _responded(span: telemetry.Span, scope: Scope, status: int) -> None:
    route = getattr(scope.get("route"), "path", None)
    if route is not None:
        span.rename(f"{scope['method']} {route}")
    span.tell({"http.route": route, "http.response.status_code": status})
    if status >= 500:
        span.fail(str(status))


async def _limited(scope: Scope, receive: Receive) -> Receive:
    """Rejects a body by its Content-Length, and buffers a chunked body up to the limit."""
    if _UPLOAD.fullmatch(f"{scope['method']} {scope['path']}"):
        # Streamed, with a limit of its own.
        return receive
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
            return replayed({"type": "http.request", "body": body, "more_body": False}, receive)


def replayed(message: Message, receive: Receive) -> Receive:
    """Receives this message again first."""
    pending = [message]

    async def replay() -> Message:
        return pending.pop() if pending else await receive()

    return replay


def _too_large() -> TooLarge:
    message = f"The request body is too large: the limit is {MAX_BODY} bytes."
    return TooLarge("body_too_large", message, {"maxBytes": MAX_BODY})
