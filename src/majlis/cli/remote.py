"""Connects commands to a server: its URL and the token to use."""

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


@asynccontextmanager
async def connected(where: Where) -> AsyncIterator[MajlisClient]:
    url = where.url or os.environ.get("MAJLIS_URL") or default_url(where.settings())
    await _require_server(url)
    async with _token(where) as (token, source), MajlisClient(url, token) as client:
        try:
            yield client
        except Unauthenticated as error:
            raise Unauthenticated(error.code, f"{error.message} The token is from {source}.") from None


def default_url(settings: Settings) -> str:
    if settings.port == 0:
        raise ConfigurationError("The port in the settings is 0, so the server's URL is unknown. Set it with --url.")
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"


async def _require_server(url: str) -> None:
    """Checked before a token is created."""
    async with MajlisClient(url, patience_seconds=0) as client:
        try:
            await client.health()
        except MajlisError as error:
            if error.code in ("unreachable", "connection_lost"):
                message = f"Cannot connect to {url}. Start Majlis with `majlis serve`, or set another URL with --url."
                raise Unavailable("unreachable", message) from None
            # A server with a part that is down may still be able to do what the command asks.
            if error.code not in ("unhealthy", "unavailable"):
                raise


@asynccontextmanager
async def _token(where: Where) -> AsyncIterator[tuple[str, str]]:
    """The token and its source."""
    if where.token_env is not None and not os.environ.get(where.token_env):
        raise ConfigurationError(f"The variable {where.token_env}, which --token-env names, is not set.")
    for variable in [where.token_env] if where.token_env else ("MAJLIS_TOKEN", "MAJLIS_OWNER_TOKEN"):
        if token := os.environ.get(variable):
            yield token, variable
            return
    from majlis.cli.local import open_foundation, owner_token
    from majlis.store.open import shown

    settings = where.settings()
    try:
        base = await open_foundation(settings)
    except ConfigurationError as error:
        raise ConfigurationError(
            f"There is no token. Set MAJLIS_TOKEN, or run this on the server's machine. ({error.message})"
        ) from None
    async with owner_token(base) as token:
        yield token, f"the database {shown(settings.database)}, but the server uses another one"
