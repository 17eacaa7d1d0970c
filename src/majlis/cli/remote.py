"""How commands that speak HTTP find the server and who they are."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from majlis.cli.command import Where
from majlis.client import MajlisClient
from majlis.errors import ConfigurationError, MajlisError, Unauthenticated, Unavailable

if TYPE_CHECKING:
    from majlis.settings import Settings

_TOKEN_VARIABLES = ("MAJLIS_TOKEN", "MAJLIS_OWNER_TOKEN")


@asynccontextmanager
async def connected(where: Where) -> AsyncIterator[MajlisClient]:
    url = where.url or os.environ.get("MAJLIS_URL") or default_url(where.settings())
    await _require_server(url)
    async with _identity(where) as (token, source), MajlisClient(url, token) as client:
        try:
            yield client
        except Unauthenticated as error:
            raise Unauthenticated(error.code, f"{error.message} It came from {source}.") from None


def default_url(settings: Settings) -> str:
    if settings.port == 0:
        raise ConfigurationError("The settings leave the port open (0). Name the server with --url.")
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"


async def _require_server(url: str) -> None:
    """Before a token is looked for, let alone made: is anybody there to show it to?"""
    async with MajlisClient(url, patience_seconds=0) as client:
        try:
            await client.health()
        except MajlisError as error:
            if error.code in ("unreachable", "connection_lost"):
                raise Unavailable(
                    "unreachable",
                    f"No Majlis answers at {url}. Start it with `majlis serve`, or name another with --url.",
                ) from None
            # One with a part that is down may still do what is asked.
            if error.code not in ("unhealthy", "unavailable"):
                raise


@asynccontextmanager
async def _identity(where: Where) -> AsyncIterator[tuple[str, str]]:
    """A token, and where it came from."""
    if where.token_env is not None:
        token = os.environ.get(where.token_env)
        if not token:
            raise ConfigurationError(f"--token-env names {where.token_env}, which is not set.")
        yield token, where.token_env
        return
    for variable in _TOKEN_VARIABLES:
        if token := os.environ.get(variable):
            yield token, variable
            return
    async with _owner(where) as found:
        yield found


@asynccontextmanager
async def _owner(where: Where) -> AsyncIterator[tuple[str, str]]:
    from majlis.cli.local import open_foundation, owner_token
    from majlis.store.open import shown

    settings = where.settings()
    try:
        base = await open_foundation(settings)
    except ConfigurationError as error:
        raise ConfigurationError(
            f"No token: set MAJLIS_TOKEN, or run this where the gateway's own database is. ({error.message})"
        ) from None
    async with owner_token(base) as token:
        yield token, f"the database {shown(settings.database)}; the server must be using another one"
