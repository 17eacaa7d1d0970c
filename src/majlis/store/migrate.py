"""Migrates a database to this version's data model. Rejects a database of a newer version."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from majlis import __version__
from majlis.errors import ConfigurationError
from majlis.store.migrations import REVISIONS
from majlis.store.transactions import Database, Tx

_LOCK = 0x6D616A6C  # an arbitrary number: one node migrates, the others wait


async def migrate(db: Database) -> list[str]:
    """The revisions that were applied, oldest first."""
    if await db.read(revision) == REVISIONS[-1]:
        return []
    return await db.write(_upgrade)


def revision(tx: Tx) -> str | None:
    """The database's revision."""
    if not sa.inspect(tx.conn).has_table("alembic_version"):
        return None
    found: str | None = tx.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    if found is not None and found not in REVISIONS:
        raise ConfigurationError(
            f"This database is at revision {found}, from a newer version of Majlis. This version is {__version__} "
            f"and supports revisions up to {REVISIONS[-1]}. Start the newer version, or restore a backup."
        )
    return found


def _upgrade(tx: Tx) -> list[str]:
    from alembic import command
    from alembic.config import Config

    if tx.dialect == "postgresql":
        tx.execute(sa.text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
    before = revision(tx)
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = tx.conn
    command.upgrade(config, "head")
    return list(REVISIONS[REVISIONS.index(before) + 1 if before else 0 :])
