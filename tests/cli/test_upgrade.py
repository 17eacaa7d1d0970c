"""`majlis upgrade --check` says what a new version would do to the database, and changes nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sqlalchemy as sa

from majlis.settings import Settings
from majlis.store import migrations
from majlis.store.migrations import OFFLINE, REVISIONS
from majlis.store.open import open_database
from tests.cli.command import Command

VERSIONS = Path(migrations.__file__).parent / "versions"
# Without an online helper these change what an earlier version uses, or rewrite rows.
_BLOCKS = re.compile(r"op\.(drop_column|alter_column|drop_constraint|create_primary_key|drop_table)|RENAME|\"UPDATE ")


async def _set_revision(settings: Settings, revision: str) -> None:
    db = open_database(settings.database)
    await db.write(lambda tx: tx.execute(sa.text(f"UPDATE alembic_version SET version_num = '{revision}'")))
    await db.close()


async def _undo_newest(settings: Settings) -> None:
    """Drops the tables and columns that the newest migration adds."""
    [file] = VERSIONS.glob(f"{REVISIONS[-1]}_*.py")
    text = file.read_text("utf-8")
    # The last one first: it may refer to those before it.
    undone = [f"DROP TABLE {table}" for table in reversed(re.findall(r'create_table\(\s*"(\w+)"', text))]
    columns = re.findall(r'add_column\(\s*"(\w+)", sa\.Column\(\s*"(\w+)"', text)
    undone += [f"ALTER TABLE {table} DROP COLUMN {column}" for table, column in columns]
    db = open_database(settings.database)
    await db.write(lambda tx: [tx.execute(sa.text(statement)) for statement in undone])
    await db.close()
    await _set_revision(settings, REVISIONS[-2])


async def test_a_current_database_has_no_pending_migrations(local: Command) -> None:
    assert "No migrations are pending." in (await local.ok("upgrade", "--check")).out
    assert (await local.ok("upgrade", "--json")).json["applied"] == []


async def test_pending_migrations_are_listed_with_how_they_run(local: Command, settings: Settings, engine: str) -> None:
    await _set_revision(settings, REVISIONS[-2])
    ran = await local.ok("upgrade", "--check")
    assert f"  {REVISIONS[-1]}  online   " in ran.out
    advice = "stop the server and start this version" if engine == "sqlite" else "one node after the other"
    assert advice in ran.out
    found = (await local.ok("upgrade", "--check", "--json")).json
    assert (found["revision"], found["needed"], found["online"]) == (
        REVISIONS[-2], REVISIONS[-1], engine == "postgresql",
    )  # fmt: skip
    assert [each["revision"] for each in found["pending"]] == [REVISIONS[-1]]
    # It changed nothing.
    assert (await local.ok("upgrade", "--check", "--json")).json == found
    await _set_revision(settings, "0001")
    ran = await local.ok("upgrade", "--check")
    assert "  0008  offline  " in ran.out


async def test_pending_migrations_are_applied_without_check(bare: Command, settings: Settings, engine: str) -> None:
    command = bare.given(MAJLIS_DATABASE_URL=settings.database_url, MAJLIS_DATA_DIR=str(settings.data_dir))
    await _undo_newest(settings)
    assert (await command.ok("upgrade")).out.endswith(f"Applied {REVISIONS[-1]}.\n")
    assert "No migrations are pending." in (await command.ok("upgrade", "--check")).out


async def test_a_newer_database_is_refused(local: Command, settings: Settings) -> None:
    await _set_revision(settings, "9999")
    line = await local.line("upgrade", "--check", code=2)
    assert "from a newer version of Majlis" in line


async def test_a_database_that_does_not_exist_is_not_created(bare: Command, tmp_path: Path) -> None:
    assert "There is no database" in await bare.line("upgrade", "--check", code=2)
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.mark.parametrize("revision", [each for each in REVISIONS if each not in OFFLINE])
def test_migrations_that_block_are_known_to_be_offline(revision: str) -> None:
    [file] = VERSIONS.glob(f"{revision}_*.py")
    assert not _BLOCKS.search(file.read_text("utf-8")), "add it to OFFLINE, or use the online helpers"
