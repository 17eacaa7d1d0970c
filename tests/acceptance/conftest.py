from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.acceptance.workers import Nursery, Workers
from tests.databases import PostgresDatabases, SqliteDatabases
from tests.model_server import ModelServer


@pytest.fixture(scope="session")
def worker_nursery(
    tmp_path_factory: pytest.TempPathFactory, sqlite_databases: SqliteDatabases, postgres_databases: PostgresDatabases
) -> Iterator[Nursery]:
    databases = sqlite_databases.fresh(), postgres_databases.fresh()
    nursery = Nursery(tmp_path_factory.mktemp("nursery") / "log", *databases)
    yield nursery
    nursery.close()


@pytest.fixture
async def workers(worker_nursery: Nursery, database_url: str, tmp_path: Path) -> AsyncIterator[Workers]:
    workers = Workers(worker_nursery, database_url, tmp_path)
    yield workers
    await workers.close()


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    """Answers from the test's own process, so it outlives every worker."""
    async with ModelServer() as server:
        yield server
