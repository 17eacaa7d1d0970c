from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

import majlis.runs.worker
from majlis.settings import Settings
from tests.runs.house import House, open_house


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with open_house(settings) as opened:
        yield opened


@pytest.fixture
def wake_ups_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker does not poll."""
    monkeypatch.setattr(majlis.runs.worker, "POLL_MILLIS", 3_600_000)
