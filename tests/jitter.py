"""Random delays, to find tests and code that rely on luck: of two things at once either may come first.

`MAJLIS_TEST_JITTER=200 make test ARGS="tests/runs"` delays every third transaction and every model's answer by up to
200 milliseconds. Without the variable nothing is delayed.
"""

from __future__ import annotations

import asyncio
import os
import random
from typing import Any

import pytest

from majlis.store.postgres import PostgresDatabase
from majlis.store.sqlite import SqliteDatabase
from tests.model_server import ModelServer

_LONGEST = int(os.environ.get("MAJLIS_TEST_JITTER", "0")) / 1000
_SHARE = 1 / 3


@pytest.fixture(autouse=True)
def jitter(monkeypatch: pytest.MonkeyPatch) -> None:
    if _LONGEST:
        for owner in (PostgresDatabase, SqliteDatabase):
            for name in ("read", "write"):
                _delay(monkeypatch, owner, name)
        _delay(monkeypatch, ModelServer, "reply_to")


def _delay(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> None:
    at_once = getattr(owner, name)

    async def later(*args: Any, **kwargs: Any) -> Any:
        if random.random() < _SHARE:
            await asyncio.sleep(random.uniform(0, _LONGEST))
        return await at_once(*args, **kwargs)

    monkeypatch.setattr(owner, name, later)
