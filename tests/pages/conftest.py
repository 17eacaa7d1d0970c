"""An HTTP client that behaves like a browser: it keeps cookies and sends an Origin."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.world import World


def open_browser(base_url: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=base_url, headers={"Origin": base_url}, timeout=60)


@pytest.fixture
async def browser(world: World) -> AsyncIterator[httpx.AsyncClient]:
    async with open_browser(world.base_url) as client:
        yield client


@pytest.fixture
async def link(world: World) -> str:
    """A one-time link for the owner, as a path."""
    return await world.gateway.sign_in_link("")
