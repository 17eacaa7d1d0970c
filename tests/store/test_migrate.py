"""Migrations create the data model once, and an older program refuses a newer database."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from majlis.errors import ConfigurationError
from majlis.store import migrate as migrating
from majlis.store.migrations import REVISIONS
from majlis.store.open import open_database
from majlis.store.tables import metadata
from majlis.store.transactions import Tx
from tests.databases import PostgresDatabases, SqliteDatabases


async def test_an_empty_database_is_migrated_once(databases: SqliteDatabases | PostgresDatabases) -> None:
    url = await asyncio.to_thread(databases.empty)
    db = open_database(url)
    assert await migrating.migrate(db) == list(REVISIONS)
    assert await migrating.migrate(db) == []
    await db.close()


async def test_two_processes_that_migrate_at_once_both_succeed(databases: SqliteDatabases | PostgresDatabases) -> None:
    url = await asyncio.to_thread(databases.empty)
    both = open_database(url), open_database(url)
    applied = await asyncio.gather(*(migrating.migrate(db) for db in both))
    assert sorted(map(len, applied)) == [0, len(REVISIONS)]
    for db in both:
        await db.close()


async def test_the_migrated_schema_is_the_data_model(database_url: str) -> None:
    def differences(tx: Tx) -> list[object]:
        context = MigrationContext.configure(tx.conn, opts={"compare_type": True, "include_object": _ours})
        return list(compare_metadata(context, metadata))

    db = open_database(database_url)
    assert await db.read(differences) == []
    await db.close()


async def test_a_database_of_a_newer_program_is_refused(database_url: str) -> None:
    db = open_database(database_url)
    await db.write(lambda tx: tx.execute(sa.text("UPDATE alembic_version SET version_num = '9999'")))
    with pytest.raises(ConfigurationError, match="newer version of Majlis"):
        await migrating.migrate(db)
    await db.close()


def test_the_known_revisions_are_those_on_disk() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrating.__file__).parent / "migrations"))
    scripts = ScriptDirectory.from_config(config).walk_revisions()
    assert tuple(script.revision for script in reversed(list(scripts))) == REVISIONS


def _ours(_: object, name: str | None, kind: str, *__: object) -> bool:
    """Full-text search is created by hand on each engine and is not part of the table objects."""
    return not (name or "").startswith("messages_fts") and name not in ("ix_messages_words", "alembic_version")
