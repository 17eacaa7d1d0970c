"""The `majlis` command as a process, with arguments, environment, input and output."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.processes import CommandProcess, Commands

PATIENCE_SECONDS = 60


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Command:
    def __init__(self, folder: Path, commands: Commands, **environment: str) -> None:
        self._folder = folder
        self._commands = commands
        self._environment = {**os.environ, "COLUMNS": "80", **environment}
        self._cold = False

    def given(self, **environment: str) -> Command:
        other = Command(self._folder, self._commands)
        other._environment = self._environment | environment
        other._cold = self._cold
        return other

    @property
    def cold(self) -> Command:
        """Started like from a shell, for tests of startup, exit and imports."""
        other = self.given()
        other._cold = True
        return other

    async def __call__(self, *arguments: str | bytes, stdin: bytes = b"") -> Ran:
        process = await (self._start_cold(*arguments) if self._cold else self.start(*arguments))
        async with asyncio.timeout(PATIENCE_SECONDS):
            out, err = await process.communicate(stdin)
        assert b"Traceback" not in out + err, err.decode()
        assert process.returncode is not None
        return Ran(process.returncode, out.decode(), err.decode())

    async def ok(self, *arguments: str, stdin: bytes = b"") -> Ran:
        ran = await self(*arguments, stdin=stdin)
        assert ran.code == 0, f"{arguments} → {ran.code} {ran.err}"
        return ran

    async def line(self, *arguments: str | bytes, code: int, stdin: bytes = b"") -> str:
        """The one line on stderr of a command that must fail with this code and print nothing else."""
        ran = await self(*arguments, stdin=stdin)
        assert (ran.code, ran.out) == (code, ""), f"{arguments!r} → {ran}"
        [line] = ran.err.splitlines()
        return line.removeprefix("majlis: ")

    @asynccontextmanager
    async def running(self, *arguments: str) -> AsyncIterator[Running]:
        process = await self.start(*arguments)
        try:
            yield Running(process)
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()

    async def start(self, *arguments: str | bytes) -> CommandProcess:
        return await self._commands.start(*arguments, folder=self._folder, environment=self._environment)

    def start_on(self, stream: int, *arguments: str) -> CommandProcess:
        """With one file for all its streams."""
        return self._commands.start_on([stream] * 3, *arguments, folder=self._folder, environment=self._environment)

    async def _start_cold(self, *arguments: str | bytes) -> Process:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "majlis", *arguments,
            cwd=self._folder, env=self._environment, stdin=PIPE, stdout=PIPE, stderr=PIPE,
        )  # fmt: skip


class Running:
    """A command that runs until it is stopped."""

    def __init__(self, process: CommandProcess) -> None:
        self._process = process

    async def out(self) -> str:
        return await self._line(self._process.stdout)

    async def err(self) -> str:
        return (await self._line(self._process.stderr)).removeprefix("majlis: ")

    def hang_up(self) -> None:
        """Closes the reading end of its output."""
        self._process.hang_up()

    async def stop(self, signal: int) -> int:
        self._process.send_signal(signal)
        return await self.end()

    async def end(self) -> int:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self._process.wait()

    async def _line(self, stream: asyncio.StreamReader) -> str:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return (await stream.readline()).decode().rstrip("\n")
