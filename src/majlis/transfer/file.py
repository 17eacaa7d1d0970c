"""Files of a transfer: the export that is written or read, and the file of rejected lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self, cast

import orjson

from majlis.errors import ConfigurationError, MajlisError
from majlis.store.migrations import REVISIONS
from majlis.transfer.report import Progress
from majlis.transfer.scope import ScopeName
from majlis.transfer.tables import VERSION

# No line and no batch may exceed the memory.
MAX_LINE_BYTES = 32 * 1024 * 1024
BATCH_LINES = 2000
BATCH_BYTES = 4 * 1024 * 1024
_SKIPPED_BYTES = 64 * 1024
_SHOWN_BYTES = 1000


class Raw(NamedTuple):
    number: int
    content: bytes
    too_long: bool = False


class Source:
    """An export to import: its header, then its lines in batches. Raises ConfigurationError if it is not an export."""

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
            if not raw.content.isspace():
                batch.append(raw)
                size += len(raw.content)
            if len(batch) >= BATCH_LINES or size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
        yield batch

    def _read_header(self) -> ScopeName:
        raw = self._next()
        try:
            header = orjson.loads(raw.content if raw is not None else b"")
        except orjson.JSONDecodeError:
            header = None
        if not isinstance(header, dict) or header.get("type") != "majlis-export":
            raise ConfigurationError(
                f"{self._name} is not a Majlis export: its first line is not a header. "
                "Use a file that `majlis export` wrote."
            )
        if header.get("version") != VERSION or header.get("schema") not in REVISIONS:
            raise ConfigurationError(
                f"{self._name} was written by another version of Majlis (format {header.get('version')}, schema "
                f"{header.get('schema')}). This version reads format {VERSION} up to schema {REVISIONS[-1]}. "
                "Upgrade Majlis and import the file again."
            )
        if header.get("scope") not in ("gateway", "space"):
            raise ConfigurationError(f'{self._name} is not a Majlis export: its scope is not "gateway" or "space".')
        return cast(ScopeName, header["scope"])

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


@contextmanager
def opened_output(target: str) -> Iterator[Callable[[bytes], None]]:
    """Yields a function that writes to stdout, or to a file that gets its name only when it is complete."""
    path = None if target == "-" else Path(target)
    explained = partial(_explained, path or "stdout", "-o")
    # A pipe or device is written to, never replaced.
    part = path.with_name(f"{path.name}.part") if path and (path.is_file() or not path.exists()) else None
    with explained():
        file = _open_private(part or path) if path else sys.stdout.buffer

    def write(data: bytes) -> None:
        with explained():
            file.write(data)

    try:
        yield write
        with explained():
            file.flush()
            if part and path:
                os.fsync(file.fileno())
                part.replace(path)
    finally:
        if path:
            with suppress(OSError):
                file.close()
        if part:
            part.unlink(missing_ok=True)


class Rejected:
    """The rejected lines, each with its number and reason. The file is created with the first line; a file of an
    earlier import is removed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def add(self, raw: Raw, type: str, reason: str) -> None:
        if self._file is None:
            with _explained(self.path, "--rejected"):
                self._file = _open_private(self.path)
        content = raw.content.decode("utf-8", "replace").rstrip("\r\n")
        line = {"line": raw.number, "type": type, "reason": reason, "content": content}
        self._file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))

    def __enter__(self) -> Self:
        with _explained(self.path, "--rejected"):
            self.path.unlink(missing_ok=True)
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()


def _open_private(path: Path) -> BinaryIO:
    """Readable by its owner only: it contains people's messages."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


@contextmanager
def _explained(file: Path | str, option: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"Cannot write {file}: {error.strerror}. Choose another file with {option}."
        raise MajlisError("cannot_write", message) from None
