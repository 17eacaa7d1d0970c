"""Makes a backup while the gateway runs: the database as of one moment, then the files that it names.

Files never change under their name, so they can be copied after the database.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import orjson
import sqlalchemy as sa

from majlis import __version__, clock
from majlis.audit.record import record
from majlis.backup import programs
from majlis.backup.archive import DATABASE, FILES, KEY, MANIFEST, SETTINGS, VERSION, Writer
from majlis.backup.status import LAST_BACKUP
from majlis.entities.caller import SYSTEM
from majlis.files.bucket import store_at
from majlis.files.store import FileStore
from majlis.foundation import find_owner, owner_caller
from majlis.server_key import KEY_FILE, stored_mark
from majlis.settings import CONFIG_FILE, PREFIX, Settings
from majlis.store.migrate import revision
from majlis.store.migrations import REVISIONS
from majlis.store.sqlite import SqliteDatabase
from majlis.store.tables import blobs
from majlis.store.tables import gateway as facts
from majlis.store.transactions import Database, Tx
from majlis.transfer.file import opened_output
from majlis.transfer.report import Progress

_STALE_SECONDS = 24 * 3600


class Blob(NamedTuple):
    name: str
    bytes: int


class State(NamedTuple):
    """A database of an earlier version is backed up as it is, before an upgrade."""

    schema: str | None
    key_mark: str | None
    blobs: list[Blob]


@dataclass(slots=True)
class Made:
    bytes: int = 0
    files: int = 0
    has_key: bool = False
    missing: list[str] = field(default_factory=list)
    """Files that the store does not have, although the database names them."""


async def make_backup(
    db: Database, settings: Settings, target: str, progress: Progress, config: Path | None, without_database: bool
) -> Made:
    """`target` is a path, or - for stdout. A file gets its name when it is complete."""
    stopped = threading.Event()
    try:
        with _working_folder(settings.data_dir if target == "-" else Path(target).parent) as working:
            copy = None if without_database else working / DATABASE
            if copy is not None:
                await _copy_database(db, settings, copy, stopped)
            # Later than the copy, so that no file is missing that the copy names.
            state = await db.read(_state)
            made = await asyncio.to_thread(_write, state, settings, target, copy, progress, config, stopped)
        await db.write(_record, made.bytes)
    finally:
        # The thread would go on after Ctrl-C.
        stopped.set()
    return made


async def _copy_database(db: Database, settings: Settings, target: Path, stopped: threading.Event) -> None:
    if isinstance(db, SqliteDatabase):
        await asyncio.to_thread(db.copy, target, stopped.is_set)
    else:
        await programs.dump(settings.database, target)


def _state(tx: Tx) -> State:
    return State(revision(tx), stored_mark(tx), stored_blobs(tx))


def stored_blobs(tx: Tx) -> list[Blob]:
    """Empty for a database from before there were files."""
    if not sa.inspect(tx.conn).has_table(blobs.name):
        return []
    stored = sa.select(blobs.c.name, blobs.c.bytes).where(blobs.c.stored, blobs.c.sha256.is_not(None))
    return [Blob(row.name, row.bytes) for row in tx.all(stored.order_by(blobs.c.name))]


def _write(
    state: State,
    settings: Settings,
    target: str,
    copy: Path | None,
    progress: Progress,
    config: Path | None,
    stopped: threading.Event,
) -> Made:
    """Blocks."""
    made = Made()
    with opened_output(target) as output:

        def write(data: bytes) -> None:
            if stopped.is_set():
                raise asyncio.CancelledError
            output(data)
            progress.advance(len(data))

        size = copy.stat().st_size if copy is not None else 0
        progress.total = size + sum(blob.bytes for blob in state.blobs)
        archive = Writer(write)
        archive.add(MANIFEST, orjson.dumps(_manifest(state, settings, size if copy else None)))
        made.has_key = _add_if_there(archive, KEY, settings.data_dir / KEY_FILE)
        _add_if_there(archive, SETTINGS, config or Path(os.environ.get("MAJLIS_CONFIG") or CONFIG_FILE))
        if copy is not None:
            with _unlinked(copy) as file:
                archive.add_file(DATABASE, file, size)
        _add_files(archive, store_at(settings.file_store, settings.files_dir), state.blobs, made)
        archive.finish()
        made.bytes = archive.bytes
    return made


def _manifest(state: State, settings: Settings, database_bytes: int | None) -> dict[str, Any]:
    variables = sorted(name for name in os.environ if name.removeprefix(PREFIX).lower() in Settings.model_fields)
    return {
        "type": "majlis-backup",
        "version": VERSION,
        "majlis": __version__,
        "schema": state.schema,
        "engine": "sqlite" if settings.embedded else "postgresql",
        "database": database_bytes is not None,
        "keyMark": state.key_mark,
        "files": len(state.blobs),
        "variables": [name for name in variables if name.startswith(PREFIX)],
        "madeAt": clock.iso(clock.now()),
    }


def _add_files(archive: Writer, store: FileStore, stored: list[Blob], made: Made) -> None:
    for blob in stored:
        try:
            file = store.open_now(blob.name)
        except OSError:
            made.missing.append(blob.name)
            continue
        with file:
            archive.add_file(FILES + blob.name, file, os.fstat(file.fileno()).st_size)
        made.files += 1


def _add_if_there(archive: Writer, name: str, path: Path) -> bool:
    if not path.is_file():
        return False
    archive.add(name, path.read_bytes())
    return True


@contextmanager
def _unlinked(path: Path) -> Iterator[BinaryIO]:
    """A process that is killed leaves no copy behind."""
    with path.open("rb") as file:
        path.unlink()
        yield file


@contextmanager
def _working_folder(folder: Path) -> Iterator[Path]:
    """Mode 700. Also removes what a killed backup left here."""
    for left in (*folder.glob(".majlis-backup-*"), *folder.glob("majlis-backup-*.tar.part")):
        if left.stat().st_mtime < time.time() - _STALE_SECONDS:
            _remove(left)
    path = Path(tempfile.mkdtemp(prefix=".majlis-backup-", dir=folder))
    try:
        yield path
    finally:
        _remove(path)


def _remove(path: Path) -> None:
    remove: Callable[[Path], object] = shutil.rmtree if path.is_dir() else Path.unlink
    remove(path)


def _record(tx: Tx, size: int) -> None:
    if revision(tx) == REVISIONS[-1]:
        owner_id = find_owner(tx)
        record(tx, owner_caller(tx, owner_id) if owner_id else SYSTEM, "backup.made", None, bytes=size)
    value = str(tx.now)
    if tx.execute(facts.update().where(facts.c.key == LAST_BACKUP).values(value=value)).rowcount == 0:
        tx.execute(facts.insert(), {"key": LAST_BACKUP, "value": value})
