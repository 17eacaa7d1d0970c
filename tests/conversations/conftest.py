from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest
from openai import AsyncOpenAI

from majlis.settings import Settings
from tests.runs.house import House, open_house
from tests.world import Person

Client = Callable[..., AsyncOpenAI]


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with open_house(settings) as opened:
        yield opened


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    """OpenAI's own client, with a person's token."""
    async with AsyncExitStack() as opened:

        def connect(person: Person, token: str | None = None) -> AsyncOpenAI:
            made = AsyncOpenAI(
                base_url=f"{person.base_url}/v1", api_key=token or person.token, max_retries=0, timeout=60
            )
            opened.push_async_callback(made.close)
            return made

        yield connect
