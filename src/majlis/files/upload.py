"""An upload on its way to the store: written to a file piece by piece, hashed, and checked against its limit, the
setting `max_file_bytes` in settings.py."""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from majlis.errors import TooLarge, TooMany
from majlis.files.names import safe_name
from majlis.files.sniff import Sniffed, sniff
from majlis.files.store import CHUNK, FileStore, explained, make_folder


@dataclass(frozen=True, slots=True)
class Upload:
    """A complete file in the spool, with what its bytes say about it."""

    path: Path
    name: str
    bytes: int
    sha256: str
    sniffed: Sniffed


@dataclass(slots=True)
class Spool:
    """`add` and `finish` may be called until the `with` block ends, which deletes what was not moved."""

    path: Path
    max_bytes: int
    _file: int
    size: int = 0
    _hash: hashlib._Hash = field(default_factory=hashlib.sha256)
    _waiting: bytearray = field(default_factory=bytearray)

    async def add(self, piece: bytes) -> None:
        self.size += len(piece)
        if self.size > self.max_bytes:
            raise too_large(self.max_bytes)
        self._waiting += piece
        if len(self._waiting) >= CHUNK:
            await self._write()

    async def finish(self, name: str) -> Upload:
        await self._write()
        name = safe_name(name)
        sniffed = await asyncio.to_thread(sniff, self.path, name)
        return Upload(self.path, name, self.size, self._hash.hexdigest(), sniffed)

    async def _write(self) -> None:
        piece, self._waiting = bytes(self._waiting), bytearray()
        await asyncio.to_thread(self._write_now, piece)

    def _write_now(self, piece: bytes) -> None:
        self._hash.update(piece)
        with explained():
            while piece:
                piece = piece[os.write(self._file, piece) :]


@dataclass(slots=True)
class Uploads:
    """The uploads that this process is receiving."""

    store: FileStore
    max_bytes: int
    max_per_member: int
    _open: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def begin(self, uploader_id: str) -> Iterator[Spool]:
        if self._open.get(uploader_id, 0) >= self.max_per_member:
            message = f"You are already uploading {self.max_per_member} files. Wait until one of them is done."
            raise TooMany("too_many_uploads", message, 1)
        self._open[uploader_id] = self._open.get(uploader_id, 0) + 1
        try:
            with spool(self.store.spool, self.max_bytes) as opened:
                yield opened
        finally:
            self._open[uploader_id] -= 1
            if not self._open[uploader_id]:
                del self._open[uploader_id]


@contextmanager
def spool(folder: Path, max_bytes: int) -> Iterator[Spool]:
    path = folder / secrets.token_hex(16)
    with explained():
        make_folder(folder)
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        yield Spool(path, max_bytes, file)
    finally:
        os.close(file)
        path.unlink(missing_ok=True)


def too_large(max_bytes: int) -> TooLarge:
    message = f"The file is too large: the limit is {max_bytes} bytes."
    return TooLarge("file_too_large", message, {"maxBytes": max_bytes})
