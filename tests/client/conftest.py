"""A client with the owner's token, and a proxy between client and server."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from majlis.client import MajlisClient
from tests.client.proxy import Proxy
from tests.world import World


@pytest.fixture
async def client(world: World) -> AsyncIterator[MajlisClient]:
    async with MajlisClient(world.base_url, world.owner.token) as client:
        yield client


@pytest.fixture
async def proxy(world: World) -> AsyncIterator[Proxy]:
    async with Proxy(world.base_url) as proxy:
        yield proxy
