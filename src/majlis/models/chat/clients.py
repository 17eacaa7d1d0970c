"""HTTP clients for models: one for each address and key, so that a slow server uses up no one else's connections."""

from __future__ import annotations

import ssl
from functools import cached_property
from urllib.parse import urlsplit

import httpx

_LIMITS = httpx.Limits(max_connections=1000, max_keepalive_connections=100, keepalive_expiry=20)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Clients:
    def __init__(self) -> None:
        self._open: dict[tuple[str, str | None], httpx.AsyncClient] = {}

    def get(self, base_url: str, key: str | None) -> httpx.AsyncClient:
        found = self._open.get((base_url, key))
        if found is None:
            found = self._open[base_url, key] = self._new(base_url)
        return found

    async def close(self) -> None:
        opened, self._open = list(self._open.values()), {}
        for client in opened:
            await client.aclose()

    def _new(self, base_url: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            verify=self._tls if base_url.startswith("https:") else False,
            limits=_LIMITS,
            # A proxy of the environment is for the world outside, never for a server on this machine.
            trust_env=urlsplit(base_url).hostname not in _LOOPBACK,
        )

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Loading the certificates costs milliseconds and a megabyte: once is enough."""
        return httpx.create_ssl_context()
