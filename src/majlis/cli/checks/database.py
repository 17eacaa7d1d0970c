"""Checks of the database and of the clock, which is compared with it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable

import sqlalchemy as sa

from majlis import clock
from majlis.backup.status import last_backup
from majlis.cli.doctor import Area, Finding, ok, problem, warning
from majlis.cli.local import has_key, is_missing, reason, sqlite_file, was_served
from majlis.cli.terminal import working
from majlis.errors import ConfigurationError
from majlis.server_key import check_server_key, load_server_key
from majlis.settings import Settings
from majlis.store.migrate import revision
from majlis.store.migrations import REVISIONS
from majlis.store.open import open_database, shown
from majlis.store.tables import events, messages
from majlis.store.tables import gateway as facts
from majlis.store.transactions import Database, Tx

_OLDEST_POSTGRES = 14
_DAMAGED = "Stop Majlis and restore a backup. `sqlite3 FILE .recover` may save the rest."
_NOTICEABLE_MILLIS = 1_000
_DAY_MILLIS = 24 * 3_600_000
_BACKUP_DAYS = 7
_SET_CLOCK = "Set the clock, on most systems with: timedatectl set-ntp true"


async def check_database(settings: Settings) -> AsyncIterator[Finding]:
    if is_missing(settings):
        advice = "`majlis serve` creates it at its first start. If it should exist, check --data-dir."
        yield warning("database", f"{sqlite_file(settings)} does not exist yet.", advice)
        return
    db = open_database(settings.database)
    try:
        reached = await check_connection(db, settings)
        yield reached
        if reached.level == "ok":
            async for finding in _check_contents(db, settings):
                yield finding
            async for finding in check_clock(db):
                yield finding
    finally:
        await db.close()


async def check_connection(db: Database, settings: Settings) -> Finding:
    advice = (
        f"Check --data-dir or --database-url, and the permissions of the file. If the file is damaged: {_DAMAGED}"
        if settings.embedded
        else "Check --database-url, and that the database server is running and accepts this user."
    )
    return await _guarded("database", f"Cannot connect to {shown(settings.database)}", _version(db, settings), advice)


async def check_clock(db: Database) -> AsyncIterator[Finding]:
    if db.dialect == "postgresql":
        yield await _guarded("clock", "The clocks cannot be compared", _compare_with_server(db), _SET_CLOCK)
    advice = "Run `majlis migrate` first."
    yield await _guarded("clock", "The newest entry cannot be read", _compare_with_newest(db), advice)


async def _check_contents(db: Database, settings: Settings) -> AsyncIterator[Finding]:
    advice = "Use the newer version of Majlis, or restore a backup."
    schema = await _guarded("database", "The revision cannot be read", _revision(db), advice)
    yield schema
    if db.dialect == "sqlite":
        yield await _guarded("database", "The file is damaged", _integrity(db), _DAMAGED)
        yield await _guarded("database", "The journal mode cannot be read", _journal(db), _DAMAGED)
    if schema.level == "ok":
        advice = "Check permissions and free space, and that no other writer is stuck."
        yield await _guarded("database", "The database is not writable", _writable(db), advice)
        advice = "All nodes need the key that the database was set up with."
        yield await _guarded("database", "The server key cannot be compared", _key(db, settings), advice)
        yield await _guarded("database", "The last backup cannot be read", _backup(db), advice)


async def _guarded(area: Area, failure: str, check: Awaitable[Finding], advice: str) -> Finding:
    """Turns an error in the check into a problem that `failure` describes."""
    try:
        return await check
    except ConfigurationError as error:
        return problem(area, error.message, advice)
    except (sa.exc.SQLAlchemyError, OSError, TimeoutError) as error:
        return problem(area, f"{failure}: {reason(error)}.", advice)


async def _version(db: Database, settings: Settings) -> Finding:
    if db.dialect == "sqlite":
        version = await db.read(lambda tx: tx.execute(sa.text("SELECT sqlite_version()")).scalar_one())
        return ok("database", f"SQLite {version} is available ({sqlite_file(settings)}).")
    number = int(await db.read(lambda tx: tx.execute(sa.text("SHOW server_version_num")).scalar_one()))
    major, minor = divmod(number, 10_000)
    message = f"PostgreSQL {major}.{minor} is available ({shown(settings.database)})."
    if major < _OLDEST_POSTGRES:
        return problem("database", message, f"Upgrade it: Majlis needs PostgreSQL {_OLDEST_POSTGRES} or newer.")
    return ok("database", message)


async def _revision(db: Database) -> Finding:
    found = await db.read(revision)
    if found == REVISIONS[-1]:
        return ok("database", f"The schema is up to date (revision {found}).")
    state = f"at revision {found}; this version needs {REVISIONS[-1]}" if found else "empty"
    advice = "Run `majlis migrate`; `majlis serve` also does this when it starts."
    return warning("database", f"The schema is {state}.", advice)


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
    advice = "Put the data directory on a local disk: network file systems do not support WAL."
    return warning("database", f"The journal mode is {mode}, not WAL: readers and writers block each other.", advice)


class _RollBack(Exception):
    """Rolls back a test write."""


async def _writable(db: Database) -> Finding:
    def attempt(tx: Tx) -> None:
        tx.execute(facts.insert(), {"key": "doctor", "value": "test"})
        raise _RollBack

    try:
        await db.write(attempt)
    except _RollBack:
        return ok("database", "The database is writable.")
    raise AssertionError("the test write always raises")


async def _key(db: Database, settings: Settings) -> Finding:
    if not await db.read(was_served):
        return ok("database", "No server has used the database yet.")
    if not has_key(settings):
        return problem(
            "database",
            f"The server key that the database was set up with is missing in {settings.data_dir}.",
            "Copy server.key from another node, or set MAJLIS_SECRET_KEY.",
        )
    await db.read(check_server_key, load_server_key(settings))
    return ok("database", "The server key matches the database.")


async def _backup(db: Database) -> Finding:
    """Other programs may make backups, so none is fine. A series by `majlis backup` that has stopped is a warning."""
    at = await db.read(last_backup)
    if at is None:
        return ok("database", "No backup was made with `majlis backup` yet.")
    days = (clock.now() - at) // _DAY_MILLIS
    message = f"The last backup was made at {clock.iso(at)} ({'today' if not days else f'{days} days ago'})."
    if days <= _BACKUP_DAYS:
        return ok("database", message)
    return warning("database", message, "Run `majlis backup`, and check the job that should do it.")


async def _compare_with_server(db: Database) -> Finding:
    before = clock.now()
    there = await db.server_time()
    difference = abs(there - (before + clock.now()) // 2)
    if difference < _NOTICEABLE_MILLIS:
        return ok("clock", f"The clock differs from the database server's by {difference} ms.")
    message = f"The clock differs from the database server's by {difference / 1000:.1f} s. Majlis uses the server's."
    return warning("clock", message, _SET_CLOCK)


async def _compare_with_newest(db: Database) -> Finding:
    newest = await db.read(_newest)
    if newest is None:
        return ok("clock", "The database has no entries to compare the time with.")
    ahead = newest - clock.now()
    if ahead < _NOTICEABLE_MILLIS:
        return ok("clock", "No entry in the database is in the future.")
    return problem(
        "clock",
        f"The newest entry is at {clock.iso(newest)}, {ahead // 1000} s in the future: the clock is slow now, or was "
        "fast when the entry was written.",
        _SET_CLOCK,
    )


def _newest(tx: Tx) -> int | None:
    message = tx.execute(sa.select(messages.c.created_at).order_by(messages.c.n.desc()).limit(1)).scalar_one_or_none()
    event = tx.execute(sa.select(sa.func.max(events.c.at))).scalar_one_or_none()
    return max((at for at in (message, event) if at is not None), default=None)
