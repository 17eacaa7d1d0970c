"""The unpacked parts of a backup, each on the file system of its place, until all of them are checked."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
import threading
from pathlib import Path
from typing import Any

import orjson

from majlis.backup.archive import DATABASE, FILES, KEY, MANIFEST, SETTINGS, VERSION, Member, Reader
from majlis.errors import ConfigurationError
from majlis.files.bucket import Bucket, store_at
from majlis.files.store import flush
from majlis.server_key import KEY_FILE, mark
from majlis.settings import Settings
from majlis.store.migrations import REVISIONS
from majlis.store.open import sqlite_path
from majlis.transfer.report import Progress

LEFT = ".restore-"
_SMALL = 1024 * 1024
# As the store names contents: see spaces/attachments.py.
_FILE_NAME = re.compile(r"files/([0-9a-f]{2}/[0-9a-f]{64}-[0-9a-z]{1,30})")


class Stage:
    """Unpacked parts, each in a folder on the file system of its place."""

    def __init__(self, settings: Settings) -> None:
        name = LEFT + secrets.token_hex(8)
        self.data_dir = settings.data_dir
        self.files_dir = settings.files_dir
        self.target = sqlite_path(settings.database)
        self.data = settings.data_dir / name
        self.contents = settings.files_dir / name
        self.database = (self.target.parent if self.target else settings.data_dir) / f"{name}.db"
        self.manifest: dict[str, Any] = {}
        self.files = 0
        self._moved: list[Path] = []
        self._store = store_at(settings.file_store, settings.files_dir)

    def unpack(self, reader: Reader, progress: Progress, stopped: threading.Event) -> None:
        """Blocks. Creates no name that the archive chose, except those of the store's own form."""
        for folder in (self.data, self.contents):
            folder.mkdir(mode=0o700, parents=True)
        for n, member in enumerate(reader.members()):
            if n == 0:
                self.manifest = _manifest(reader, member)
                continue
            target = self._target(reader, member)
            if target.exists():
                raise reader.damaged(f"{member.name} is in it twice")
            target.parent.mkdir(mode=0o700, exist_ok=True)
            with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                for piece in member.pieces():
                    if stopped.is_set():
                        raise asyncio.CancelledError
                    file.write(piece)
                    progress.advance(len(piece))
                file.flush()
                os.fsync(file.fileno())
        if not self.manifest or self.database.exists() != self.manifest["database"]:
            raise reader.damaged("the database is missing")

    def check_key(self, settings: Settings) -> None:
        wanted = self.manifest["keyMark"]
        if wanted is None:
            return
        own = self.data / KEY
        if settings.secret_key is not None:
            key = settings.secret_key.get_secret_value().encode()
        elif own.exists():
            key = own.read_bytes().strip()
        else:
            raise ConfigurationError(
                "The backup has no server key, because its gateway had it in MAJLIS_SECRET_KEY. Set this variable to "
                "the same key and restore again. Nothing was restored."
            )
        if mark(key) != wanted:
            raise ConfigurationError(
                "The server key is not the one that the backup's database was set up with. "
                + ("Correct or unset MAJLIS_SECRET_KEY" if settings.secret_key else "Use another backup")
                + " and restore again. Nothing was restored."
            )

    def move_files(self) -> None:
        """Into a bucket first: what gets there before a failure does no harm, since names are unique."""
        if isinstance(self._store, Bucket):
            for path in sorted(path for path in self.contents.rglob("*") if path.is_file()):
                self._store.put_now(path.relative_to(self.contents).as_posix(), path)
            remove(self.contents)
            self.contents.mkdir()
        for folder, place in ((self.contents, self.files_dir), (self.data, self.data_dir)):
            for path in sorted(folder.iterdir()):
                path.rename(place / path.name)
                self._moved.append(place / path.name)
            flush(place)

    def place_database(self) -> None:
        assert self.target is not None
        self.database.rename(self.target)
        flush(self.target.parent)

    def undo(self) -> None:
        for path in self._moved:
            remove(path)

    def remove(self) -> None:
        for path in (self.data, self.contents, *self.database.parent.glob(f"{self.database.name}*")):
            remove(path)

    def _target(self, reader: Reader, member: Member) -> Path:
        if member.name == DATABASE:
            return self.database
        if member.name in (KEY, SETTINGS) and member.size <= _SMALL:
            return self.data / (KEY_FILE if member.name == KEY else SETTINGS)
        if _FILE_NAME.fullmatch(member.name):
            self.files += 1
            return self.contents / member.name.removeprefix(FILES)
        raise reader.damaged(f"it contains {member.name!r}")


def _manifest(reader: Reader, member: Member) -> dict[str, Any]:
    try:
        found = orjson.loads(member.content(_SMALL)) if member.name == MANIFEST else None
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict) or found.get("type") != "majlis-backup":
        raise reader.damaged("its first file is not a manifest")
    if found.get("version") != VERSION or found.get("schema") not in REVISIONS:
        raise ConfigurationError(
            f"The backup was made by another version of Majlis ({found.get('majlis')}, schema {found.get('schema')}). "
            f"This version restores schemas up to {REVISIONS[-1]}. Upgrade Majlis and restore again."
        )
    if found.get("engine") not in ("sqlite", "postgresql") or type(found.get("database")) is not bool:
        raise reader.damaged("its manifest is not complete")
    if not isinstance(found.get("keyMark"), str | None):
        raise reader.damaged("its manifest is not complete")
    return found


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
