"""Where an export goes: to stdout, or to a file that appears under its name only when it is whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from majlis.errors import MajlisError


class Output:
    def __init__(self, target: str) -> None:
        self._path = None if target == "-" else Path(target)
        # A pipe or a device is written to, never replaced.
        replaces = self._path is not None and (self._path.is_file() or not self._path.exists())
        self._part = self._path.with_name(f"{self._path.name}.part") if self._path and replaces else None
        self._file = sys.stdout.buffer

    def write(self, data: bytes) -> None:
        with self._explained():
            self._file.write(data)

    def __enter__(self) -> Self:
        with self._explained():
            if self._path is not None:
                self._file = _open(self._part or self._path)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._explained():
            if error is None:
                self._finish()
            elif self._path is not None:
                with suppress(OSError):
                    self._file.close()
                if self._part is not None:
                    self._part.unlink(missing_ok=True)

    def _finish(self) -> None:
        self._file.flush()
        if self._path is None:
            return
        if self._part is not None:
            os.fsync(self._file.fileno())
            self._part.replace(self._path)
        self._file.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            where = self._path or "stdout"
            message = f"{where} cannot be written ({error.strerror}). Choose another with -o."
            raise MajlisError("cannot_write", message) from None


def _open(path: Path) -> BinaryIO:
    # For the eyes of whoever exports: the file holds what people have said to each other.
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
