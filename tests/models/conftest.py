"""A scripted model server and clients for it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.model_server import ModelServer
from tests.models.served_models import Opened


@pytest.fixture
async def opened() -> AsyncIterator[Opened]:
    async with ModelServer() as server:
        opened = Opened(server)
        yield opened
        await opened.models.close()
