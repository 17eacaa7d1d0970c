"""`majlis upgrade`: shows or applies the migrations that this version needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.command import AsJson, Where, on_database
from majlis.cli.terminal import print_json, print_line
from majlis.errors import ConfigurationError

if TYPE_CHECKING:
    from majlis.store.migrate import Pending


@on_database
async def upgrade(
    where: Where,
    check: Annotated[bool, typer.Option("--check", help="Report what would be done, but do nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Migrate the database to this version, or check what that would do.

    `majlis serve` also migrates when it starts.
    """
    from majlis import __version__
    from majlis.cli.local import is_missing, opened
    from majlis.store.migrate import migrate, pending, revision
    from majlis.store.migrations import REVISIONS
    from majlis.store.open import shown

    settings = where.settings()
    if is_missing(settings):
        raise ConfigurationError(
            f"There is no database {shown(settings.database)}. `majlis serve` creates it, or check --data-dir."
        )
    async with opened(settings) as db:
        found, waiting = await db.read(revision), await db.read(pending)
        applied = [] if check else await migrate(db)
    online = not settings.embedded and all(each.online for each in waiting)
    if as_json:
        listed = [{"revision": each.revision, "online": each.online, "about": each.about} for each in waiting]
        versions = {"version": __version__, "revision": found, "needed": REVISIONS[-1]}
        print_json({**versions, "pending": [] if applied else listed, "online": online, "applied": applied})
        return
    state = f"Majlis {__version__} needs revision {REVISIONS[-1]}; the database is at {found or 'none'}."
    print_line("\n".join([state, *_lines(waiting, applied, online, settings.embedded)]))


def _lines(waiting: list[Pending], applied: list[str], online: bool, embedded: bool) -> list[str]:
    if not waiting:
        return ["No migrations are pending."]
    if applied:
        return [f"Applied {', '.join(applied)}."]
    listed = [f"  {each.revision}  {'online ' if each.online else 'offline'}  {each.about}" for each in waiting]
    if online:
        advice = "All of them run online: make a backup, and start this version on one node after the other."
    elif embedded:
        advice = "Make a backup, stop the server and start this version. It migrates the database first."
    else:
        advice = "Some of them need exclusive use of the database: make a backup, and stop all nodes that run."
    return [f"Pending migrations: {len(waiting)}", *listed, advice]
