"""Fixtures: fresh databases of both engines, a gateway served over real HTTP, and a NATS server."""

from __future__ import annotations

import gc
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from majlis import clock
from majlis.settings import Settings
from majlis.store import ids
from tests.cli.processes import Commands
from tests.databases import PostgresDatabases, SqliteDatabases, postgres_server
from tests.distribution import distribute
from tests.environment import isolate
from tests.jitter import jitter
from tests.nats_servers import NatsServer
from tests.statement_cache import share_statement_cache
from tests.world import World, serve_world

ENGINES = ("sqlite", "postgresql")

__all__ = ["jitter"]

share_statement_cache()

# On a busy machine the time of an example means nothing.
hypothesis_settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("tests")

# Log tracebacks like Majlis does. structlog's own, with colours and local variables, take seconds each.
structlog.configure(
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ]
)


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """After pytest has read the developer's terminal settings, before collection."""
    isolate()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers > 1:
        items[:] = distribute(items, workers)


def pytest_collection_finish() -> None:
    """Everything loaded so far stays, so the garbage collector does not need to look at it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that moves the clock with `clock.advance` does not move it for the next one."""
    monkeypatch.setattr(clock, "_ahead", 0)
    monkeypatch.setattr(clock, "_standing", None)
    monkeypatch.setattr(ids._own, "_last_millis", 0)


@pytest.fixture
def standing_clock(own_time: None) -> None:
    """The time changes only when the test changes it, however slow the machine is."""
    clock.stand_still()


@pytest.fixture(scope="session")
def sqlite_databases(tmp_path_factory: pytest.TempPathFactory) -> SqliteDatabases:
    return SqliteDatabases(tmp_path_factory.mktemp("sqlite"))


@pytest.fixture(scope="session")
def postgres_databases() -> Iterator[PostgresDatabases]:
    with postgres_server() as url:
        databases = PostgresDatabases(url)
        yield databases
        databases.close()


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Tests that use a database run on both engines."""
    name: str = request.param
    return name


@pytest.fixture
def databases(engine: str, request: pytest.FixtureRequest) -> SqliteDatabases | PostgresDatabases:
    found: SqliteDatabases | PostgresDatabases = request.getfixturevalue(
        "sqlite_databases" if engine == "sqlite" else "postgres_databases"
    )
    return found


@pytest.fixture
def database_url(databases: SqliteDatabases | PostgresDatabases) -> Iterator[str]:
    """A migrated database that no other test uses."""
    url = databases.fresh()
    yield url
    databases.drop(url)


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings(database_url=database_url, data_dir=tmp_path, port=0)


@pytest.fixture
async def world(settings: Settings) -> AsyncIterator[World]:
    """A gateway served over HTTP on a free port, with its owner signed in."""
    async with serve_world(settings) as served:
        yield served


@pytest.fixture(scope="session")
def commands() -> Iterator[Commands]:
    """Starts `majlis` commands."""
    started = Commands()
    yield started
    started.close()


@pytest.fixture(scope="session")
def nats_url() -> Iterator[str]:
    given = os.environ.get("MAJLIS_TEST_NATS_URL")
    if given:
        yield given
        return
    server = NatsServer()
    server.start()
    yield server.url
    server.stop()


@pytest.fixture
def nats_server() -> Iterator[NatsServer]:
    """For tests that stop and restart it."""
    server = NatsServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def bus_url(engine: str, request: pytest.FixtureRequest) -> str:
    """For several processes on one database: NATS on PostgreSQL, nothing on SQLite."""
    found: str = request.getfixturevalue("nats_url") if engine == "postgresql" else ""
    return found
