"""The databases of the tests: a reused one cannot be distinguished from a new one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import asyncpg
import pytest

from majlis.gateway import open_gateway
from majlis.settings import Settings
from tests.conditions import PATIENCE_SECONDS
from tests.database_reset import Template, read_template
from tests.databases import PostgresDatabases


async def look(url: str) -> tuple[Template, int]:
    connection = await asyncpg.connect(url)
    number = await connection.fetchval("SELECT nextval(seqrelid::regclass) FROM pg_sequence")
    await connection.close()
    return await read_template(url), number


async def change(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(statement)
    await connection.close()


async def furnish(url: str, folder: Path) -> None:
    gateway = await open_gateway(Settings(database_url=url, data_dir=folder))
    await gateway.create_lobby()
    await gateway.close()


def test_a_reset_database_is_like_a_new_one(postgres_databases: PostgresDatabases, tmp_path: Path) -> None:
    untouched = postgres_databases._create(postgres_databases._template)
    url = postgres_databases.fresh()
    asyncio.run(furnish(url, tmp_path))
    used, _ = asyncio.run(look(url))
    postgres_databases.drop(url)
    assert postgres_databases.fresh() == url
    swept, first = asyncio.run(look(url))
    assert {"entities", "gateway", "spaces", "deliveries"} <= used.rows.keys() != swept.rows.keys()
    assert (swept, first) == asyncio.run(look(untouched))
    postgres_databases._drop(untouched)
    postgres_databases.drop(url)


def test_clients_that_are_still_connected_are_disconnected(postgres_databases: PostgresDatabases) -> None:
    url = postgres_databases.fresh()

    async def overstay() -> bool:
        connection = await asyncpg.connect(url)
        await connection.execute("BEGIN; LOCK TABLE entities")
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.to_thread(postgres_databases.drop, url)
        return bool(connection.is_closed())

    assert asyncio.run(overstay())
    assert postgres_databases.fresh() == url
    postgres_databases.drop(url)


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE goals ADD COLUMN extra integer",
        "CREATE INDEX extra ON goals (id)",
        "ALTER TABLE goals DROP COLUMN id CASCADE",
        "ANALYZE entities",
        "UPDATE alembic_version SET version_num = version_num",
        "INSERT INTO gateway (key, value) SELECT n::text, repeat('x', 100) FROM generate_series(1, 1000) AS n",
    ],
)
def test_one_that_a_test_has_changed_or_filled_is_not_used_again(
    postgres_databases: PostgresDatabases, statement: str
) -> None:
    url = postgres_databases.fresh()
    asyncio.run(change(url, statement))
    postgres_databases.drop(url)
    another = postgres_databases.fresh()
    assert another != url
    postgres_databases.drop(another)
