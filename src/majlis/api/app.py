"""The HTTP application: the routes, their middleware, and the gateway they call."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from majlis import __version__
from majlis.api.auth import KnownTokens, RateLimit
from majlis.api.error_responses import handle_error
from majlis.api.mcp import routes as mcp
from majlis.api.middleware import CatchErrors, Middleware
from majlis.api.oidc import Provider
from majlis.api.reference.document import complete
from majlis.api.route import Route
from majlis.api.routes import (
    agents,
    asks,
    audit,
    budgets,
    entities,
    events,
    files,
    health,
    inbox,
    invites,
    mcp_sign_ins,
    messages,
    model_hosts,
    models,
    oidc,
    openai,
    pages,
    pictures,
    push,
    runs,
    secrets,
    session,
    spaces,
    system,
    tokens,
    usage,
    web,
    webhooks,
)
from majlis.entities.tokens import end_other_owner_tokens
from majlis.errors import MajlisError
from majlis.gateway import Gateway

_ALLOWED_HEADERS = (
    "Authorization", "Content-Type", "Last-Event-ID", "X-Conversation-Id", "Idempotency-Key",
    "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name",
)  # fmt: skip

# Routes are tried in order, so the most used come first.
_ROUTERS = (
    messages,
    spaces,
    invites,
    files,
    events,
    runs,
    asks,
    inbox,
    entities,
    tokens,
    session,
    agents,
    usage,
    budgets,
    audit,
    secrets,
    model_hosts,
    models,
    openai,
    mcp,
    mcp_sign_ins,
    webhooks,
    health,
    system,
    oidc,
    pages,
    pictures,
    push,
    web,
)
ROUTES = [route for module in _ROUTERS for route in module.router.routes]
_making_document = threading.Lock()


def create_app(gateway: Gateway) -> ASGIApp:
    """The app starts and closes the gateway."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await gateway.start()
        await gateway.db.write(end_other_owner_tokens, gateway.hasher.owner_token)
        app.state.mcp = mcp.Lazy(gateway)
        yield
        await app.state.mcp.close()
        await gateway.close()

    # Its own spans would contain paths and queries, and with them search words and secret addresses.
    telemetry: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False}
    app = FastAPI(openapi_url=None, lifespan=lifespan, telemetry=telemetry)
    # Not `include_router`, which builds each route a second time, during the first request.
    app.router.routes = list(ROUTES)
    app.add_exception_handler(MajlisError, handle_error)
    app.add_exception_handler(RequestValidationError, handle_error)
    app.add_exception_handler(HTTPException, web.not_found)
    app.add_middleware(messages.QuickPost)
    app.add_middleware(CatchErrors)
    settings = gateway.settings
    app.state.gateway = gateway
    app.state.document = openapi_document
    app.state.oidc = Provider(settings) if settings.oidc_issuer else None
    app.state.known_tokens = KnownTokens()
    app.state.caller_limit = RateLimit("caller", settings.requests_per_second, settings.requests_burst)
    app.state.sign_in_limit = RateLimit("sign_in", settings.sign_ins_per_minute / 60, settings.sign_ins_per_minute)
    return Middleware(_with_cors(app, settings.allowed_origins), settings.https)


def openapi_document() -> dict[str, Any]:
    """The OpenAPI document, without a gateway: also for SDK generators and tests. Made once, even if several requests
    ask for it at once."""
    with _making_document:
        return _openapi_document()


@cache
def _openapi_document() -> dict[str, Any]:
    described = [route.described() if isinstance(route, Route) else route for route in ROUTES]
    return complete(get_openapi(title="Majlis", version=__version__, routes=described))


def _with_cors(app: ASGIApp, origins: list[str]) -> ASGIApp:
    if not origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=origins,
        allow_credentials=True,
        allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        allow_headers=_ALLOWED_HEADERS,
        expose_headers=["Mcp-Session-Id", "WWW-Authenticate"],
    )
