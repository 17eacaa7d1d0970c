"""Server-Sent Events as they come in, in whatever pieces: the data of each event, and nothing else of it."""

from __future__ import annotations

from collections.abc import Iterator

# What Python needs for a line besides its content.
_LINE_BYTES = 50


class EventReader:
    """Lines end in LF or CRLF; comments and other fields are passed over; an event may have several data lines."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0

    @property
    def held(self) -> int:
        """Bytes of memory that an event takes which has not ended yet."""
        return len(self._rest) + self._size

    def feed(self, piece: bytes) -> Iterator[bytes]:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            yield from self._line(line.removesuffix(b"\r"))

    def end(self) -> Iterator[bytes]:
        """What a server left without its closing empty line."""
        yield from self._line(self._rest.removesuffix(b"\r"))
        yield from self._line(b"")

    def _line(self, line: bytes) -> Iterator[bytes]:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
            self._size += len(line) + _LINE_BYTES
        elif not line and self._data:
            yield b"\n".join(self._data)
            self._data, self._size = [], 0
