"""`majlis migrate`: bring the database to this program's data model, without starting it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from majlis.cli.command import AsJson, ConfigFile, DatabaseUrl, DataDir, Where
from majlis.cli.printing import print_json, print_line, working
from majlis.cli.running import run_async

if TYPE_CHECKING:
    from majlis.settings import Settings


def migrate(
    data_dir: DataDir = None, database_url: DatabaseUrl = None, config: ConfigFile = None, as_json: AsJson = False
) -> None:
    """Make the database, or bring it up to date. `majlis serve` does the same when it starts."""
    from majlis.store.open import shown

    settings = Where(data_dir, database_url, config).settings()
    applied, revision = run_async(_migrate(settings))
    if as_json:
        print_json({"database": shown(settings.database), "revision": revision, "applied": applied})
    elif applied:
        print_line(f"Applied {', '.join(applied)} to {shown(settings.database)}.")
    else:
        print_line(f"{shown(settings.database)} is up to date (revision {revision}).")


async def _migrate(settings: Settings) -> tuple[list[str], str]:
    from majlis.cli.local import opened
    from majlis.store.migrate import migrate
    from majlis.store.migrations import REVISIONS

    async with opened(settings) as db, working("Migrating the database"):
        return await migrate(db), REVISIONS[-1]
