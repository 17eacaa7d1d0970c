"""The routes of `/mcp`: authentication, origins, and the server, which is loaded by the first request."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Annotated, Any, cast
from urllib.parse import urlsplit

from fastapi import Depends, Request, Response
from starlette.types import Message, Receive, Scope, Send

from majlis.api.auth import Entry, TheGateway, base_url, enter
from majlis.api.bodies import reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.errors import Forbidden, Malformed, Unauthenticated
from majlis.gateway import Gateway
from majlis.lazy_import import import_alone

if TYPE_CHECKING:
    from majlis.api.mcp.server import Running

router = new_router("mcp")

PATH = "/mcp"
METADATA = "/.well-known/oauth-protected-resource"
ENTRY = "majlis.entry"
_SESSION, _VERSION = b"mcp-session-id", b"mcp-protocol-version"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Lazy:
    """The MCP server of this process. Importing it takes a second."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._running: Running | None = None
        self._lock = asyncio.Lock()

    async def open(self) -> Running:
        async with self._lock:
            if self._running is None:
                module = cast(Any, await asyncio.to_thread(import_alone, "majlis.api.mcp.server"))
                self._running = await module.start(self._gateway)
            return self._running

    async def close(self) -> None:
        if self._running is not None:
            await self._running.close()


async def enter_client(request: Request) -> Entry:
    """A bearer token, never a cookie: a browser sends cookies along for any page."""
    require_known_origin(request)
    try:
        if "authorization" not in request.headers:
            raise Unauthenticated("unauthenticated", "Send the header Authorization: Bearer <token>.")
        entry = (await enter(request)).needing()
        await entry.caller()
    except Unauthenticated as error:
        error.challenge = f'Bearer realm="majlis", resource_metadata="{base_url(request)}{METADATA}{PATH}"'
        raise
    return entry


def require_known_origin(request: Request) -> None:
    """A page whose host name was pointed at this server (DNS rebinding) has the same host as the server, so only the
    origins of the settings and this machine's own addresses are accepted."""
    origin = request.headers.get("origin")
    settings = request.app.state.gateway.settings
    if origin is None or origin in settings.allowed_origins:
        return
    found = urlsplit(origin)
    is_local = found.hostname in _LOOPBACK and found.netloc == request.headers.get("host")
    if not is_local and origin != settings.public_url:
        raise Forbidden("cross_site", "This request came from another site. Add its origin to allowed_origins.")


TheClient = Annotated[Entry, Depends(enter_client)]


@router.post(
    PATH,
    response_class=Response,
    responses={
        200: {
            "content": {"application/json": {"schema": {"type": "object"}}, "text/event-stream": {}},
            "description": "The response to a JSON-RPC request of the Model Context Protocol, or events up to it.",
        },
        202: {"description": "A notification was accepted."},
        **refusals(),
    },
)
async def speak(request: Request, entry: TheClient) -> Response:
    """The Model Context Protocol over streamable HTTP, without sessions. docs/mcp.md lists the tools."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Malformed("wrong_content_type", "Send a JSON-RPC message with the header Content-Type: application/json.")
    return McpResponse(await request.app.state.mcp.open(), entry)


@router.api_route(PATH, methods=["GET", "DELETE"], include_in_schema=False)
async def refuse(_: TheClient) -> Response:
    """There are no sessions, so there is no stream apart from a response, and nothing to end."""
    message = "Send messages with POST. This server has no sessions, so it has no other stream and nothing to delete."
    return reply({"error": {"code": "method_not_allowed", "message": message, "details": {}}}, 405, {"Allow": "POST"})


@router.get(METADATA, include_in_schema=False)
@router.get(METADATA + PATH, include_in_schema=False)
async def protected_resource(request: Request, gateway: TheGateway) -> Response:
    """RFC 9728. It names no authorization server: tokens are made in Majlis."""
    base = base_url(request)
    return reply(
        {
            "resource": base + PATH,
            "resource_name": "Majlis",
            "bearer_methods_supported": ["header"],
            "scopes_supported": ["read", "write", "approve"],
        }
    )


class McpResponse(Response):
    """One request, handled by the MCP server, which writes the response itself."""

    def __init__(self, running: Running, entry: Entry) -> None:
        self.background = None
        self._running = running
        self._entry = entry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[ENTRY] = self._entry
        given = {name for name, _ in scope["headers"]}
        begins = _SESSION not in given and _VERSION not in given

        async def send_named(message: Message) -> None:
            # Nothing is stored under the name. It tells apart the clients that cancel their requests with one token.
            if message["type"] == "http.response.start" and begins and message["status"] == 200:
                message["headers"] = [*message["headers"], (_SESSION, secrets.token_hex(16).encode())]
            await send(message)

        await self._running.handle(scope, receive, send_named)
