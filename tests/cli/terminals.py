"""The command on a real terminal."""

from __future__ import annotations

import asyncio
import os
import pty
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.cli.command import PATIENCE_SECONDS, Command
from tests.cli.processes import CommandProcess

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    def __init__(self, process: CommandProcess, screen: int) -> None:
        self._process = process
        self._screen = screen
        self._seen = b""
        self._closed = False
        self._more = asyncio.Event()
        asyncio.get_running_loop().add_reader(screen, self._read)

    def type(self, text: str) -> None:
        os.write(self._screen, text.encode())

    async def until(self, text: str) -> str:
        """Waits for this text and returns everything up to it. The next call searches after it."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while text not in self.shown:
                assert not self._closed, f"it ended after {self.shown!r}"
                await self._more.wait()
                self._more.clear()
        before, _, after = self.shown.partition(text)
        self._seen = after.encode()
        return before + text

    @property
    def shown(self) -> str:
        return _COLOURS.sub("", self._seen.decode(errors="replace").replace("\r\n", "\n"))

    async def end(self) -> int:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self._process.wait()

    def _read(self) -> None:
        try:
            chunk = os.read(self._screen, 65_536)
        except OSError:  # Linux: the other side is closed.
            chunk = b""
        if not chunk:
            self._closed = True
            asyncio.get_running_loop().remove_reader(self._screen)
        self._seen += chunk
        self._more.set()


@asynccontextmanager
async def in_terminal(command: Command, *arguments: str) -> AsyncIterator[Terminal]:
    screen, inside = pty.openpty()
    process = command.start_on(inside, *arguments)
    os.close(inside)
    try:
        yield Terminal(process, screen)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        asyncio.get_running_loop().remove_reader(screen)
        os.close(screen)
