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
from tests.nats_servers import NatsServer
from tests.statement_cache import share_statement_cache
from tests.world import World, serve_world

ENGINES = ("sqlite", "postgresql")

share_statement_cache()

# How long an example takes says nothing on a busy machine.
hypothesis_settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("tests")

# Tracebacks as Majlis itself logs them. Those of structlog, with colours and every local variable, take seconds each.
structlog.configure(
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ]
)


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """After pytest has looked at the developer's terminal, before anything is collected."""
    isolate()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers > 1:
        items[:] = distribute(items, workers)


def pytest_collection_finish() -> None:
    """What is loaded by now stays: looking through all of it for garbage, again and again, takes its time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that moves the clock (`clock.advance`) moves it for itself; the next one begins in the present."""
    monkeypatch.setattr(clock, "_ahead", 0)
    monkeypatch.setattr(clock, "_standing", None)
    monkeypatch.setattr(ids, "_last_millis", 0)


@pytest.fixture
def standing_clock(own_time: None) -> None:
    """Time moves when the test moves it, however slow the machine is."""
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
    """Every test that touches a database runs on both."""
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
    """A migrated database that nobody else uses."""
    url = databases.fresh()
    yield url
    databases.drop(url)


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings(database_url=database_url, data_dir=tmp_path, port=0)


@pytest.fixture
async def world(settings: Settings) -> AsyncIterator[World]:
    """A gateway served over HTTP on a free port, its owner signed in."""
    async with serve_world(settings) as served:
        yield served


@pytest.fixture(scope="session")
def commands() -> Iterator[Commands]:
    """Starts the `majlis` command, as often as tests like."""
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
    """One that the test may stop and start again."""
    server = NatsServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def bus_url(engine: str, request: pytest.FixtureRequest) -> str:
    """What several processes on one database need: NATS on PostgreSQL, nothing on SQLite."""
    found: str = request.getfixturevalue("nats_url") if engine == "postgresql" else ""
    return found
