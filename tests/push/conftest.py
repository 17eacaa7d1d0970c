from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

import majlis.push.fill
import majlis.push.send
from majlis.push.send import PushSender
from majlis.secret_store import Cipher
from majlis.settings import Settings
from tests.webhooks.receiver import Receiver, open_receiver
from tests.world import World


@pytest.fixture
async def service(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Receiver]:
    monkeypatch.setattr(majlis.push.send, "_EVERY_SECONDS", 0.05)
    monkeypatch.setattr(majlis.push.fill, "WAIT_MILLIS", 0)
    async with open_receiver() as opened:
        yield opened


@pytest.fixture
def settings(settings: Settings, service: Receiver) -> Settings:
    return settings.model_copy(update={"tool_private_hosts": [service.host]})


@pytest.fixture
def asleep(service: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The served gateway looks into the queue once, at its start: the test has a sender of its own."""
    monkeypatch.setattr(majlis.push.send, "_EVERY_SECONDS", 3600)


@pytest.fixture
async def sender(world: World, service: Receiver) -> AsyncIterator[PushSender]:
    made = PushSender(world.gateway.db, Cipher(world.gateway.hasher.secret_key), [service.host])
    yield made
    for task in made._sending:
        task.cancel()
    await asyncio.gather(*made._sending, return_exceptions=True)
