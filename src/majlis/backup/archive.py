"""The archive: an uncompressed tar of plain files, which ends with the hash of everything before.

The reader accepts nothing else: no links, folders, devices or extended headers, and no compression that could hide a
large content in a small file.
"""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from majlis.errors import ConfigurationError

MANIFEST, KEY, SETTINGS, DATABASE, FILES = "manifest.json", "server.key", "majlis.toml", "database", "files/"
VERSION = 1
_COMPLETE = "complete"
_PIECE = 1024 * 1024
_BLOCK = tarfile.BLOCKSIZE


class Writer:
    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write_now = write
        self._hash = hashlib.sha256()
        self.bytes = 0

    def add(self, name: str, content: bytes) -> None:
        self._add_header(name, len(content))
        self._write(content)
        self._pad(len(content))

    def add_file(self, name: str, file: BinaryIO, size: int) -> None:
        self._add_header(name, size)
        left = size
        while left:
            piece = file.read(min(_PIECE, left))
            if not piece:
                raise ConfigurationError(f"{name} became shorter while it was read. Make the backup again.")
            self._write(piece)
            left -= len(piece)
        self._pad(size)

    def finish(self) -> None:
        self.add(_COMPLETE, self._hash.hexdigest().encode())
        self._write(bytes(2 * _BLOCK))

    def _add_header(self, name: str, size: int) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mode = size, 0o600
        self._write(info.tobuf(tarfile.GNU_FORMAT, "ascii", "strict"))

    def _write(self, data: bytes) -> None:
        self._write_now(data)
        self._hash.update(data)
        self.bytes += len(data)

    def _pad(self, size: int) -> None:
        self._write(bytes(-size % _BLOCK))


class Damaged(ConfigurationError):
    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name} is not a complete Majlis backup: {problem}. Nothing was restored.")


@dataclass(slots=True)
class Member:
    """Its content must be read before the next member."""

    name: str
    size: int
    _reader: Reader

    def pieces(self) -> Iterator[bytes]:
        return self._reader.pieces(self.size)

    def content(self, limit: int) -> bytes:
        if self.size > limit:
            raise self._reader.damaged(f"{self.name} is larger than {limit} bytes")
        return b"".join(self.pieces())


class Reader:
    """Yields the members. After the last one, the whole archive is known to be as it was written."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._hash = hashlib.sha256()

    def damaged(self, problem: str) -> Damaged:
        return Damaged(str(self._path), problem)

    def members(self) -> Iterator[Member]:
        while True:
            hash_before = self._hash.hexdigest()
            info = self._header()
            if info.name == _COMPLETE:
                if Member(info.name, info.size, self).content(64) != hash_before.encode():
                    raise self.damaged("its checksum is wrong")
                return
            yield Member(info.name, info.size, self)

    def pieces(self, size: int) -> Iterator[bytes]:
        left = size
        while left:
            piece = self._read(min(_PIECE, left))
            left -= len(piece)
            yield piece
        self._read(-size % _BLOCK)

    def _header(self) -> tarfile.TarInfo:
        try:
            info = tarfile.TarInfo.frombuf(self._read(_BLOCK), "ascii", "strict")
        except (tarfile.TarError, ValueError):
            raise self.damaged("a header cannot be read") from None
        if info.type != tarfile.REGTYPE or info.size < 0:
            raise self.damaged("it contains entries that are not files")
        return info

    def _read(self, size: int) -> bytes:
        data = self._file.read(size)
        if len(data) != size:
            raise self.damaged("its end is missing")
        self._hash.update(data)
        return data
