"""Two gateways: one with data to export, and a fresh one. Their databases are emptied and reused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import asyncpg
import orjson
import pytest

from majlis.entities.entities import add_entity
from majlis.gateway import open_gateway
from majlis.settings import Settings
from majlis.store.open import open_database
from majlis.store.tables import metadata
from majlis.store.transactions import Database, Tx
from tests.databases import PostgresDatabases, SqliteDatabases
from tests.transfer.sample_gateway import House, Said, exported, furnish, written

Databases = SqliteDatabases | PostgresDatabases


@pytest.fixture(scope="session")
def two_rooms(postgres_databases: PostgresDatabases) -> Iterator[list[str]]:
    """On PostgreSQL a new database takes most of a second."""
    urls = [postgres_databases.fresh() for _ in range(2)]
    yield urls
    for url in urls:
        postgres_databases.drop(url)


@pytest.fixture(scope="session")
def room_urls(sqlite_databases: SqliteDatabases, two_rooms: list[str]) -> dict[str, list[str]]:
    return {"sqlite": [sqlite_databases.fresh() for _ in range(2)], "postgresql": two_rooms}


@pytest.fixture(scope="session")
async def rooms(room_urls: dict[str, list[str]]) -> AsyncIterator[dict[str, list[Database]]]:
    """Open for the whole session: compiling the statements again would take most of a short test's time."""
    opened = {engine: [open_database(url) for url in urls] for engine, urls in room_urls.items()}
    yield opened
    for db in (*opened["sqlite"], *opened["postgresql"]):
        await db.close()


@pytest.fixture(scope="session")
def moved_out(sqlite_databases: SqliteDatabases, tmp_path_factory: pytest.TempPathFactory) -> tuple[House, bytes]:
    """A gateway with data on SQLite, and its export. Made once, because most tests only need the file."""

    async def move_out() -> tuple[House, bytes]:
        folder = tmp_path_factory.mktemp("moved-out")
        gateway = await open_gateway(Settings(database_url=sqlite_databases.fresh(), data_dir=folder, port=0))
        try:
            return await gateway.db.write(furnish), written(await exported(gateway.db))
        finally:
            await gateway.db.close()

    return asyncio.run(move_out())


@pytest.fixture
def house(moved_out: tuple[House, bytes]) -> House:
    return moved_out[0]


@pytest.fixture
def lines(moved_out: tuple[House, bytes]) -> list[Said]:
    return [orjson.loads(line) for line in moved_out[1].splitlines()]


@pytest.fixture
def database_url(databases: Databases, request: pytest.FixtureRequest) -> Iterator[str]:
    yield from _room(databases, request, 0)


@pytest.fixture
def target_url(databases: Databases, request: pytest.FixtureRequest) -> Iterator[str]:
    yield from _room(databases, request, 1)


@pytest.fixture
async def source(rooms: dict[str, list[Database]], engine: str) -> Database:
    """A gateway that has only its owner."""
    await rooms[engine][0].write(move_out_and_in)
    return rooms[engine][0]


@pytest.fixture
async def furnished(source: Database) -> House:
    return await source.write(furnish)


@pytest.fixture
async def target(rooms: dict[str, list[Database]], engine: str) -> Database:
    """Another gateway that was started once and never used."""
    await rooms[engine][1].write(move_out_and_in)
    return rooms[engine][1]


def move_out_and_in(tx: Tx) -> None:
    for table in reversed(metadata.sorted_tables):
        tx.execute(table.delete())
    add_entity(tx, "human", "Owner", role="owner")


def _room(databases: Databases, request: pytest.FixtureRequest, number: int) -> Iterator[str]:
    if isinstance(databases, SqliteDatabases):
        url = databases.fresh()
        yield url
        databases.drop(url)
    else:
        url = request.getfixturevalue("two_rooms")[number]
        asyncio.run(sweep(url))
        yield url


async def sweep(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(";".join(f"DELETE FROM {table.name}" for table in reversed(metadata.sorted_tables)))
    finally:
        await connection.close()
