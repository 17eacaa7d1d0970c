"""The content of files in an export: lines of a megabyte each, in order, before the lines of the files."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from majlis.files.store import FileStore, make_folder

_PIECE = 1024 * 1024
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Complete(NamedTuple):
    sha256: str
    bytes: int
    path: Path


class Wrong(Exception):
    pass


def content_lines(store: FileStore, name: str, sha256: str, size: int) -> Iterator[dict[str, Any]]:
    with store.open_now(name) as file:
        offset = 0
        while True:
            piece = file.read(_PIECE)
            if not piece and offset:
                return
            data = base64.b64encode(piece).decode()
            yield {"type": "content", "sha256": sha256, "bytes": size, "offset": offset, "data": data}
            offset += len(piece)
            if not piece:
                return


@dataclass(slots=True)
class Receiver:
    """Puts the lines of one content together, in a file of the store's spool."""

    store: FileStore
    _sha256: str = ""
    _size: int = 0
    _received: int = 0
    _path: Path | None = None
    _file: BinaryIO | None = None
    _hash: hashlib._Hash = field(default_factory=hashlib.sha256)

    def add(self, line: Mapping[str, Any]) -> Complete | None:
        """Returns the content once its last line has arrived. Raises Wrong."""
        sha256, size, offset, piece = _parsed(line)
        if offset == 0:
            self._begin(sha256, size)
        if self._file is None or (sha256, size, offset) != (self._sha256, self._size, self._received):
            self.close()
            raise Wrong("the content is not continued where its last line ended")
        self._file.write(piece)
        self._hash.update(piece)
        self._received += len(piece)
        if self._received < size and piece:
            return None
        self._file.close()
        if self._received != size or self._hash.hexdigest() != sha256 or self._path is None:
            self.close()
            raise Wrong("the content does not have this size and sha256")
        return Complete(sha256, size, self._path)

    def close(self) -> None:
        """Deletes what was not moved to the store."""
        if self._file is not None:
            self._file.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        self._file = self._path = None

    def _begin(self, sha256: str, size: int) -> None:
        self.close()
        make_folder(self.store.spool)
        self._sha256, self._size, self._received, self._hash = sha256, size, 0, hashlib.sha256()
        self._path = self.store.spool / secrets.token_hex(16)
        self._path.touch(mode=0o600)
        self._file = self._path.open("wb")


def _parsed(line: Mapping[str, Any]) -> tuple[str, int, int, bytes]:
    sha256, size, offset, data = (line.get(key) for key in ("sha256", "bytes", "offset", "data"))
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
        raise Wrong("sha256 should be 64 digits from 0 to f")
    if type(size) is not int or type(offset) is not int or not 0 <= offset <= size or not isinstance(data, str):
        raise Wrong("bytes and offset should be numbers, and data a string")
    try:
        return sha256, size, offset, base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise Wrong("data should be base64") from None
