from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from majlis.store.open import open_database
from majlis.store.transactions import Database


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    opened = open_database(database_url)
    yield opened
    await opened.close()
