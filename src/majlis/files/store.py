"""The file store. Names are made by Majlis, never by a caller."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from majlis.errors import Unavailable

CHUNK = 256 * 1024
_STALE_SECONDS = 24 * 3600


class FileStore:
    """A folder. Several nodes need one that they share."""

    def __init__(self, root: Path) -> None:
        self.root = root
        # Where uploads are written until their hash is known.
        self.spool = root / "incoming"

    async def put(self, name: str, path: Path) -> None:
        """Stores a local file, which is moved. Repeating it changes nothing."""
        await asyncio.to_thread(self.put_now, name, path)

    def put_now(self, name: str, path: Path) -> None:
        """Blocks."""
        target = self.root / name
        with explained():
            make_folder(target.parent)
            # A crash must not leave a name without its bytes.
            flush(path)
            path.replace(target)
            flush(target.parent)

    async def put_bytes(self, name: str, content: bytes) -> None:
        """For small content that can be made again."""
        await asyncio.to_thread(self._put_bytes_now, name, content)

    async def read(self, name: str, start: int, end: int) -> AsyncIterator[bytes]:
        """The bytes from `start` to before `end`, in pieces. Raises FileNotFoundError."""
        file = await asyncio.to_thread(self.open_now, name)
        try:
            await asyncio.to_thread(file.seek, start)
            while start < end and (piece := await asyncio.to_thread(file.read, min(CHUNK, end - start))):
                start += len(piece)
                yield piece
        finally:
            file.close()

    async def read_all(self, name: str) -> bytes:
        """For small content. Raises FileNotFoundError."""
        return await asyncio.to_thread((self.root / name).read_bytes)

    def open_now(self, name: str) -> BinaryIO:
        return (self.root / name).open("rb")

    def has_now(self, name: str) -> bool:
        return (self.root / name).is_file()

    def _put_bytes_now(self, name: str, content: bytes) -> None:
        path = self.spool / secrets.token_hex(16)
        with explained():
            make_folder(self.spool)
            path.touch(0o600, exist_ok=False)
            path.write_bytes(content)
        self.put_now(name, path)

    async def has(self, name: str) -> bool:
        return await asyncio.to_thread(self.has_now, name)

    async def delete(self, name: str) -> None:
        """Does nothing if there is no such name."""
        await asyncio.to_thread((self.root / name).unlink, missing_ok=True)


@contextmanager
def explained() -> Iterator[None]:
    """A full or missing disk is not the fault of the request."""
    try:
        yield
    except OSError as error:
        problem = f"The server cannot store files at the moment: {error.strerror}."
        raise Unavailable("file_store_failed", f"{problem} Try again later, or tell the server's owner.") from error


def flush(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def make_folder(path: Path) -> None:
    """Makes a folder that only the server's own user can open (G10)."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def delete_stale(spool: Path) -> None:
    """Uploads that a crash interrupted."""
    before = time.time() - _STALE_SECONDS
    with contextlib.suppress(FileNotFoundError):
        for path in spool.iterdir():
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime < before:
                    path.unlink()
