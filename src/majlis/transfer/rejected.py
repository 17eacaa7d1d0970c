"""Where lines go that were set aside: each with its number, the reason, and what it said."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import orjson

from majlis.errors import MajlisError
from majlis.transfer.file import Raw


class Rejected:
    """The file is made with the first line: an import with nothing to set aside leaves none, nor one of before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def add(self, raw: Raw, type: str, reason: str) -> None:
        said = {"line": raw.number, "type": type, "reason": reason}
        content = raw.content.decode("utf-8", "replace").rstrip("\r\n")
        self._opened().write(orjson.dumps({**said, "content": content}, option=orjson.OPT_APPEND_NEWLINE))

    def __enter__(self) -> Self:
        with self._explained():
            self.path.unlink(missing_ok=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()

    def _opened(self) -> BinaryIO:
        if self._file is None:
            with self._explained():
                # For the eyes of whoever imports: lines hold what people have said to each other.
                self._file = os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
        return self._file

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            message = f"{self.path} cannot be written ({error.strerror}). Choose another with --rejected."
            raise MajlisError("cannot_write", message) from None
