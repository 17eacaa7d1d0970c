"""The HTTP application: routes, the door they stand behind, and the gateway they call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from majlis import __version__
from majlis.api.auth import KnownTokens
from majlis.api.error_responses import add_error_handlers
from majlis.api.middleware import Door
from majlis.api.rate_limit import RateLimit
from majlis.api.routes import (
    agents,
    entities,
    events,
    health,
    inbox,
    memories,
    messages,
    pages,
    preview,
    runs,
    session,
    spaces,
    tokens,
    web,
)
from majlis.gateway import Gateway

# Those in the hot path first: routes are tried in order.
_ROUTERS = (
    messages,
    spaces,
    events,
    runs,
    inbox,
    entities,
    tokens,
    session,
    agents,
    preview,
    memories,
    health,
    pages,
    web,
)


def create_app(gateway: Gateway) -> ASGIApp:
    """Starts the gateway with the server and closes it with it."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await gateway.start()
        yield
        await gateway.close()

    app = FastAPI(openapi_url=None, lifespan=lifespan)
    app.router.routes = _catalogue().router.routes
    add_error_handlers(app)
    app.add_exception_handler(HTTPException, web.lost)
    settings = gateway.settings
    app.state.gateway = gateway
    app.state.known_tokens = KnownTokens()
    app.state.caller_limit = RateLimit("caller", settings.requests_per_second, settings.requests_burst)
    app.state.sign_in_limit = RateLimit("sign_in", settings.sign_ins_per_minute / 60, settings.sign_ins_per_minute)
    return Door(_with_cors(app, settings.allowed_origins), settings.public_url.startswith("https://"))


def openapi_document() -> dict[str, Any]:
    """What `/api/openapi.json` serves, without a gateway: for SDK generators and tests."""
    return _catalogue().openapi()


@cache
def _catalogue() -> FastAPI:
    """All routes and their document. They know no gateway: a request brings its app along. FastAPI works out their
    types at the first request (150 ms), so that is done once in a process, however many gateways it serves."""
    app = FastAPI(
        title="Majlis",
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=_operation_id,
    )
    for module in _ROUTERS:
        app.include_router(module.router)
    return app


def _with_cors(app: ASGIApp, origins: list[str]) -> ASGIApp:
    """No other origin may call unless it is named in the settings."""
    if not origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=origins,
        allow_credentials=True,
        allow_methods=["GET", "POST", "PATCH", "DELETE"],
        allow_headers=["Authorization", "Content-Type", "Last-Event-ID"],
    )


def _operation_id(route: APIRoute) -> str:
    """Stable names for SDKs: the resource and the verb, `messages.create`."""
    return f"{route.tags[0]}_{route.name}" if route.tags else route.name
