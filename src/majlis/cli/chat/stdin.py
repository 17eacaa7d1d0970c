"""Reads lines from stdin without blocking the event loop.

A thread reads, because making a terminal non-blocking would also make its output non-blocking. It reads the file
descriptor itself, because a read that waits in Python's buffer would block the exit.
"""

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
    """Lines without their line ends."""
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    descriptor = sys.stdin.fileno()

    def read() -> None:
        with suppress(RuntimeError):  # the loop is closed
            for line in _lines_of(descriptor):
                loop.call_soon_threadsafe(lines.put_nowait, line)
            loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, daemon=True, name="stdin").start()
    while (line := await lines.get()) is not None:
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise Invalid("invalid_text", "The input on stdin is not UTF-8 text.") from None
        yield text.removesuffix("\r")


def _lines_of(descriptor: int) -> Iterator[bytes]:
    rest = b""
    with suppress(OSError):  # the terminal is gone
        while chunk := os.read(descriptor, _CHUNK):
            *lines, rest = (rest + chunk).split(b"\n")
            yield from lines
    if rest:
        yield rest
