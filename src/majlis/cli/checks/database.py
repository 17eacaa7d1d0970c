"""Does the database answer, take writes, fit this program, and hold together?"""

from __future__ import annotations

from collections.abc import AsyncIterator

import sqlalchemy as sa

from majlis.cli.checks.finding import Finding, guarded, ok, problem, warning
from majlis.cli.local import has_key, sqlite_file, was_served
from majlis.cli.printing import working
from majlis.server_key import check_server_key, load_server_key
from majlis.settings import Settings
from majlis.store.migrate import revision
from majlis.store.migrations import REVISIONS
from majlis.store.open import shown
from majlis.store.tables import gateway as facts
from majlis.store.transactions import Database, Tx

_OLDEST_POSTGRES = 14
_DAMAGED = "Stop Majlis and restore a backup; `sqlite3 FILE .recover` may save what is left."


async def reach(db: Database, settings: Settings) -> Finding:
    advice = (
        f"Check --data-dir or --database-url, and the file's permissions. Is the file damaged? {_DAMAGED}"
        if settings.embedded
        else "Check --database-url, and that the server runs and lets this user in."
    )
    return await guarded("database", f"{shown(settings.database)} does not answer", _reach(db, settings), advice)


async def check(db: Database, settings: Settings) -> AsyncIterator[Finding]:
    """Of a database that answers."""
    newer = "Start the newer program, or restore a backup."
    at = await guarded("database", "Its revision cannot be read", _revision(db), newer)
    yield at
    if db.dialect == "sqlite":
        yield await guarded("database", "The file is damaged", _integrity(db), _DAMAGED)
        yield await guarded("database", "The journal mode cannot be read", _journal(db), _DAMAGED)
    if at.level == "ok":
        stuck = "Check permissions and free space, and that no other writer hangs."
        yield await guarded("database", "It takes no writes", _writable(db), stuck)
        same = "Every node needs the key that the database was set up with."
        yield await guarded("database", "The server's key cannot be compared", _key(db, settings), same)


async def _reach(db: Database, settings: Settings) -> Finding:
    if db.dialect == "sqlite":
        version = await db.read(lambda tx: tx.execute(sa.text("SELECT sqlite_version()")).scalar_one())
        return ok("database", f"SQLite {version} answers ({sqlite_file(settings)}).")
    number = int(await db.read(lambda tx: tx.execute(sa.text("SHOW server_version_num")).scalar_one()))
    major, minor = divmod(number, 10_000)
    answers = f"PostgreSQL {major}.{minor} answers ({shown(settings.database)})."
    if major < _OLDEST_POSTGRES:
        return problem("database", answers, f"Majlis needs PostgreSQL {_OLDEST_POSTGRES} or newer: upgrade the server.")
    return ok("database", answers)


async def _revision(db: Database) -> Finding:
    found = await db.read(revision)
    if found == REVISIONS[-1]:
        return ok("database", f"The schema is up to date (revision {found}).")
    state = f"at revision {found}, this program knows {REVISIONS[-1]}" if found else "empty"
    return warning(
        "database", f"The schema is {state}.", "Run `majlis migrate`; `majlis serve` does the same when it starts."
    )


async def _integrity(db: Database) -> Finding:
    async with working("Checking every page of the database"):
        rows = await db.read(lambda tx: tx.all(sa.text("PRAGMA quick_check(10)")))
    first = str(rows[0][0])
    if first == "ok":
        return ok("database", "The file is intact (quick_check).")
    return problem("database", f"The file is damaged: {first.splitlines()[0]}.", _DAMAGED)


async def _journal(db: Database) -> Finding:
    mode = str(await db.read(lambda tx: tx.execute(sa.text("PRAGMA journal_mode")).scalar_one()))
    if mode == "wal":
        return ok("database", "The journal mode is WAL.")
    advice = "Put the data directory on a local disk: network file systems cannot do WAL."
    return warning("database", f"The journal mode is {mode}, not WAL: readers and writers wait for each other.", advice)


class _Undo(Exception):
    """Rolls back a write that was only a try."""


async def _writable(db: Database) -> Finding:
    def attempt(tx: Tx) -> None:
        tx.execute(facts.insert(), {"key": "doctor", "value": "was here"})
        raise _Undo

    try:
        await db.write(attempt)
    except _Undo:
        return ok("database", "It takes writes.")
    raise AssertionError("a try that raises cannot have succeeded")


async def _key(db: Database, settings: Settings) -> Finding:
    if not await db.read(was_served):
        return ok("database", "No server has been here yet.")
    if not has_key(settings):
        return problem(
            "database",
            f"This database was set up with a server key that is not here ({settings.data_dir}).",
            "Copy the server.key of the other nodes there, or set MAJLIS_SECRET_KEY.",
        )
    await db.read(check_server_key, load_server_key(settings))
    return ok("database", "The server's key is the one it was set up with.")
