from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from majlis.settings import Settings
from tests.runs.house import House, open_house


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with open_house(settings) as opened:
        yield opened
