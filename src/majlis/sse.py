"""Parses Server-Sent Events from a byte stream, wherever its chunks are cut.

Lines end with LF or CRLF. `splitlines` would also split at U+2028, which a message may contain.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

# Python's overhead for one line of data.
_LINE_BYTES = 50


class ServerEvent(NamedTuple):
    id: str
    type: str
    data: bytes


class EventParser:
    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._fields: dict[bytes, bytes] = {}
        self._size = 0

    @property
    def held(self) -> int:
        """Memory in bytes used by the unfinished event."""
        return len(self._rest) + self._size

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """Yields the events that this chunk completes."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            yield from self._line(line.removesuffix(b"\r"))

    def end(self) -> Iterator[ServerEvent]:
        """Yields a last event that has no closing empty line."""
        yield from self.feed(b"\n\n")

    def _line(self, line: bytes) -> Iterator[ServerEvent]:
        if not line:
            if self._data:
                yield ServerEvent(self._field(b"id", b""), self._field(b"event", b"message"), b"\n".join(self._data))
            self._fields, self._data, self._size = {}, [], 0
            return
        # A line that starts with a colon is a comment, for example a heartbeat.
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
            self._size += len(line) + _LINE_BYTES
        elif name in (b"id", b"event"):
            self._fields[name] = value.removeprefix(b" ")

    def _field(self, name: bytes, default: bytes) -> str:
        return self._fields.get(name, default).decode(errors="replace")
