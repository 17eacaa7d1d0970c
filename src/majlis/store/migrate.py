"""Migrates a database to this version's data model. Rejects a database of a newer version."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa

from majlis import __version__
from majlis.errors import ConfigurationError
from majlis.store.migrations import OFFLINE, REVISIONS
from majlis.store.transactions import Database, Tx


async def migrate(db: Database) -> list[str]:
    """The revisions that were applied, oldest first."""
    if await db.read(revision) == REVISIONS[-1]:
        return []
    return await db.alter(_upgrade)


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


class Pending(NamedTuple):
    revision: str
    online: bool
    about: str


def pending(tx: Tx) -> list[Pending]:
    """The migrations that this version would apply, oldest first. Raises ConfigurationError for a newer database."""
    found = revision(tx)
    return [Pending(each, each not in OFFLINE, _about(each)) for each in REVISIONS[_applied(found) :]]


def _about(revision: str) -> str:
    [file] = (Path(__file__).parent / "migrations" / "versions").glob(f"{revision}_*.py")
    return (ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "").partition("\n")[0]


def _applied(found: str | None) -> int:
    return REVISIONS.index(found) + 1 if found else 0


def _upgrade(tx: Tx) -> list[str]:
    from alembic import command
    from alembic.config import Config

    before = revision(tx)
    if tx.dialect == "postgresql":
        tx.conn.rollback()  # Ends the transaction of the query above: each migration has its own.
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = tx.conn
    command.upgrade(config, "head")
    return list(REVISIONS[_applied(before) :])
