from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

import majlis.push.fill
import majlis.push.send
from majlis.settings import Settings
from tests.webhooks.receiver import Receiver, open_receiver


@pytest.fixture
async def service(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Receiver]:
    monkeypatch.setattr(majlis.push.send, "_EVERY_SECONDS", 0.05)
    monkeypatch.setattr(majlis.push.fill, "WAIT_MILLIS", 0)
    async with open_receiver() as opened:
        yield opened


@pytest.fixture
def settings(settings: Settings, service: Receiver) -> Settings:
    return settings.model_copy(update={"tool_private_hosts": [service.host]})
