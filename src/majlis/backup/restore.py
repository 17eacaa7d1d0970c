"""Restores a backup into an empty data directory, and into an empty database.

Everything is unpacked next to its place and checked first. The database comes last: without it nothing was restored.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import sqlalchemy as sa

from majlis.backup import programs
from majlis.backup.archive import SETTINGS, Reader
from majlis.backup.make import stored_blobs
from majlis.backup.stage import LEFT, Stage, remove
from majlis.errors import ConfigurationError
from majlis.settings import Settings
from majlis.store.migrate import revision
from majlis.store.open import open_database, shown, sqlite_path
from majlis.store.transactions import Tx
from majlis.transfer.report import Progress

_IGNORED = {"lost+found"}


@dataclass(frozen=True, slots=True)
class Restored:
    manifest: dict[str, Any]
    files: int
    missing: int
    settings_file: Path | None


async def restore_backup(path: Path, settings: Settings, progress: Progress) -> Restored:
    stopped = threading.Event()
    await _check_empty(settings)
    try:
        with _opened(path) as file, _staged(settings) as stage:
            progress.total = _check_space(path, stage.data)
            await asyncio.to_thread(stage.unpack, Reader(path, file), progress, stopped)
            stage.check_key(settings)
            missing = await _check_database(stage, settings) if stage.manifest["database"] else 0
            await asyncio.to_thread(stage.move_files)
            await _place_database(stage, settings)
    finally:
        stopped.set()
    settings_file = settings.data_dir / SETTINGS
    return Restored(stage.manifest, stage.files, missing, settings_file if settings_file.exists() else None)


async def _check_empty(settings: Settings) -> None:
    database = sqlite_path(settings.database)
    for folder in {settings.data_dir, settings.files_dir}:
        found = list(folder.iterdir()) if folder.is_dir() else [folder] if folder.exists() else []
        if any(_counts(path) for path in found if path != settings.files_dir):
            raise ConfigurationError(
                f"{folder} is not empty. A backup is only restored into an empty directory: choose another one with "
                "--data-dir, or move this one away."
            )
    if database is not None and database.exists():
        raise ConfigurationError(f"The database {database} exists already. Choose another one, or move it away.")
    if database is None and await _has_tables(settings):
        raise ConfigurationError(
            f"The database {shown(settings.database)} is not empty. Create an empty one and select it with "
            "--database-url."
        )


def _counts(path: Path) -> bool:
    """A restore that was killed leaves only folders that the next one removes."""
    return path.name not in _IGNORED and not path.name.startswith(LEFT)


async def _has_tables(settings: Settings) -> bool:
    db = open_database(settings.database)
    try:
        return await db.read(lambda tx: bool(sa.inspect(tx.conn).get_table_names()))
    finally:
        await db.close()


async def _check_database(stage: Stage, settings: Settings) -> int:
    """The number of contents that the backup does not have."""
    engine = "sqlite" if stage.target else "postgresql"
    if stage.manifest["engine"] != engine:
        wanted = "Leave out --database-url" if engine == "postgresql" else "Set --database-url postgresql://…"
        raise ConfigurationError(
            f"This is a backup of a gateway on {stage.manifest['engine']}. {wanted} and restore again. To change the "
            "database, use majlis export and majlis import. Nothing was restored."
        )
    if stage.target is None:
        return 0
    await asyncio.to_thread(_check_sqlite, stage.database)
    db = open_database(f"sqlite:///{stage.database}")
    try:
        return await db.read(_count_missing, stage.contents)
    finally:
        await db.close()


def _check_sqlite(path: Path) -> None:
    try:
        raw = sqlite3.connect(path)
        try:
            [first, *_] = raw.execute("PRAGMA quick_check(1)").fetchone()
        finally:
            raw.close()
    except sqlite3.Error as error:
        first = str(error)
    if first != "ok":
        raise ConfigurationError(f"The database in the backup is damaged: {first}. Nothing was restored.")


def _count_missing(tx: Tx, contents: Path) -> int:
    revision(tx)
    return sum(not (contents / each.name).is_file() for each in stored_blobs(tx))


async def _place_database(stage: Stage, settings: Settings) -> None:
    if stage.manifest["database"] and stage.target is None:
        await programs.load(settings.database, stage.database)
    elif stage.manifest["database"]:
        stage.place_database()


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise ConfigurationError(f"Cannot read {path}: {error.strerror}.") from None
    with file:
        yield file


@contextmanager
def _staged(settings: Settings) -> Iterator[Stage]:
    """Nothing stays of a restore that fails, not even a directory that it created."""
    stage = Stage(settings)
    created = [folder for folder in (settings.files_dir, settings.data_dir) if not folder.exists()]
    try:
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in {settings.data_dir, settings.files_dir, stage.database.parent}:
            for left in folder.glob(f"{LEFT}*"):
                remove(left)
        yield stage
    except OSError as error:
        stage.undo()
        raise ConfigurationError(
            f"Cannot write to {error.filename} ({error.strerror}). Nothing was restored."
        ) from None
    except BaseException:
        stage.undo()
        raise
    finally:
        stage.remove()
        for folder in created:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def _check_space(archive: Path, folder: Path) -> int:
    """The archive's size. It is not compressed, so it needs no more."""
    size, free = archive.stat().st_size, shutil.disk_usage(folder.parent).free
    if size > free:
        raise ConfigurationError(
            f"The backup needs {size // 1_000_000:,} MB, but only {free // 1_000_000:,} MB are free in "
            f"{folder.parent}. Free some space, or choose another directory with --data-dir."
        )
    return size
