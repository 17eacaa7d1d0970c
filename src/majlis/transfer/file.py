"""The file as it comes: its header, and its lines in batches. No line and no batch can be larger than memory allows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple, cast

import orjson

from majlis.errors import ConfigurationError
from majlis.store.migrations import REVISIONS
from majlis.transfer.export import VERSION
from majlis.transfer.progress import Progress
from majlis.transfer.scope import ScopeName

MAX_LINE_BYTES = 32 * 1024 * 1024
BATCH_LINES = 500
BATCH_BYTES = 4 * 1024 * 1024
_SKIPPED_BYTES = 64 * 1024
_SHOWN_BYTES = 1000


class Raw(NamedTuple):
    number: int
    content: bytes
    too_long: bool = False


class Source:
    """Raises ConfigurationError for what is no export."""

    def __init__(self, file: BinaryIO, name: str, progress: Progress) -> None:
        self._file = file
        self._name = name
        self._progress = progress
        self._number = 0
        self.scope = self._read_header()

    def batches(self) -> Iterator[list[Raw]]:
        batch: list[Raw] = []
        size = 0
        while (raw := self._next()) is not None:
            if raw.content.strip():
                batch.append(raw)
                size += len(raw.content)
            if len(batch) >= BATCH_LINES or size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
        yield batch

    def _read_header(self) -> ScopeName:
        raw = self._next()
        said = _object(raw.content) if raw is not None else {}
        if said.get("type") != "majlis-export":
            raise ConfigurationError(
                f"{self._name} is no export of Majlis: its first line is not the header of one. "
                "Give a file written by majlis export."
            )
        if said.get("version") != VERSION or said.get("schema") not in REVISIONS:
            raise ConfigurationError(
                f"{self._name} was written by another Majlis (format {said.get('version')}, schema "
                f"{said.get('schema')}); this one reads format {VERSION} up to schema {REVISIONS[-1]}. "
                "Import it with the newer program."
            )
        if said.get("scope") not in ("gateway", "space"):
            raise ConfigurationError(f'{self._name} is no export of Majlis: its scope is not "gateway" or "space".')
        return cast(ScopeName, said["scope"])

    def _next(self) -> Raw | None:
        content = self._file.readline(MAX_LINE_BYTES + 1)
        if not content:
            return None
        self._number += 1
        self._progress.advance(len(content))
        if len(content) <= MAX_LINE_BYTES:
            return Raw(self._number, content)
        rest = content
        while rest and not rest.endswith(b"\n"):
            rest = self._file.readline(_SKIPPED_BYTES)
            self._progress.advance(len(rest))
        return Raw(self._number, content[:_SHOWN_BYTES], too_long=True)


def _object(content: bytes) -> dict[str, Any]:
    try:
        said = orjson.loads(content)
    except orjson.JSONDecodeError:
        return {}
    return said if isinstance(said, dict) else {}
