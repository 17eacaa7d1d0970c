"""Lines from stdin while other things go on. A thread reads: a terminal cannot be made non-blocking without making
the output so, too; and it reads the descriptor itself, since one that waits in Python's buffer would block the exit."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress

from majlis.errors import Invalid

_CHUNK = 65_536


async def typed_lines() -> AsyncIterator[str]:
    """Without their line ends, until the input ends."""
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    descriptor = sys.stdin.fileno()

    def read_on() -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            for line in _lines_of(descriptor):
                loop.call_soon_threadsafe(lines.put_nowait, line)
            loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read_on, daemon=True, name="stdin").start()
    while (line := await lines.get()) is not None:
        yield _decoded(line)


def _lines_of(descriptor: int) -> Iterator[bytes]:
    rest = b""
    while chunk := _read(descriptor):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
    if rest:
        yield rest


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:
        return b""  # the terminal is gone


def _decoded(line: bytes) -> str:
    try:
        return line.decode().removesuffix("\r")
    except UnicodeDecodeError:
        raise Invalid("invalid_text", "What came on stdin is not UTF-8 text.") from None
