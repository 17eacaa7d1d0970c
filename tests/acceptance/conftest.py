from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.acceptance.workers import ForkServer, Workers
from tests.databases import PostgresDatabases, SqliteDatabases
from tests.model_server import ModelServer


@pytest.fixture(scope="session")
def fork_server(
    tmp_path_factory: pytest.TempPathFactory, sqlite_databases: SqliteDatabases, postgres_databases: PostgresDatabases
) -> Iterator[ForkServer]:
    databases = sqlite_databases.fresh(), postgres_databases.fresh()
    fork_server = ForkServer(tmp_path_factory.mktemp("fork_server") / "log", *databases)
    yield fork_server
    fork_server.close()


@pytest.fixture
async def workers(fork_server: ForkServer, database_url: str, tmp_path: Path) -> AsyncIterator[Workers]:
    workers = Workers(fork_server, database_url, tmp_path)
    yield workers
    await workers.close()


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    """Runs in the test's own process, so it survives every worker."""
    async with ModelServer() as server:
        yield server
