"""`majlis migrate` on an empty database, on one that is up to date, and on one of a newer version."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from majlis.settings import Settings
from majlis.store.migrations import REVISIONS
from majlis.store.open import open_database
from tests.cli.command import Command
from tests.databases import PostgresDatabases, SqliteDatabases


@pytest.fixture
def empty_url(databases: SqliteDatabases | PostgresDatabases) -> Iterator[str]:
    url = databases.empty()
    yield url
    databases.drop(url)


async def test_an_empty_database_is_made_once(bare: Command, empty_url: str) -> None:
    command = bare.given(MAJLIS_DATABASE_URL=empty_url)
    assert (await command.ok("migrate")).out.startswith(f"Applied {', '.join(REVISIONS)} to ")
    assert "is up to date" in (await command.ok("migrate")).out


async def test_applied_revisions_are_printed_as_json(bare: Command, empty_url: str) -> None:
    command = bare.given(MAJLIS_DATABASE_URL=empty_url)
    first = (await command.ok("migrate", "--json")).json
    assert (first["applied"], first["revision"]) == (list(REVISIONS), REVISIONS[-1])
    assert (await command.ok("migrate", "--json")).json == {**first, "applied": []}


async def test_a_database_from_the_future_is_refused(local: Command, settings: Settings) -> None:
    db = open_database(settings.database)
    await db.write(lambda tx: tx.execute(sa.text("UPDATE alembic_version SET version_num = '9999'")))
    await db.close()
    for arguments in (["migrate"], ["token", "list", "Owner"], ["serve"]):
        assert "from a newer version of Majlis" in await local.line(*arguments, code=2)
