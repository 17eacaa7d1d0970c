"""`majlis serve` processes, for tests of crashes and of several processes on one database."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import TextIO

import httpx

from tests.cli.processes import CommandProcess, Commands
from tests.world import Person

OWNER_TOKEN = "owner-token-for-tests-only-0123456789"


class ServerProcess:
    def __init__(
        self, commands: Commands, database_url: str, data_dir: Path, bus_url: str = "", **environment: str
    ) -> None:
        self.base_url = ""
        self._commands = commands
        self._process: CommandProcess | None = None
        self._folder = data_dir
        self._environment = {
            **os.environ,
            "MAJLIS_DATABASE_URL": database_url,
            "MAJLIS_OWNER_TOKEN": OWNER_TOKEN,
            "MAJLIS_BUS_URL": bus_url,
            "PYTHONUNBUFFERED": "1",
            **environment,
        }

    async def start(self) -> ServerProcess:
        self._said = self._fork()
        line = await asyncio.to_thread(self._said.readline)
        assert line.startswith("Majlis is running at "), line
        self.base_url = line.removeprefix("Majlis is running at ").strip()
        return self

    async def stop(self) -> int:
        """Like an operator: sends SIGTERM and waits for a clean exit."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        with self._said:
            return await self._process.wait()

    async def owner(self) -> Person:
        async with httpx.AsyncClient(base_url=self.base_url, verify=False) as http:
            answer = await http.get("/api/me", headers={"Authorization": f"Bearer {OWNER_TOKEN}"})
        me = answer.json()
        return Person(self.base_url, OWNER_TOKEN, me["id"], me["name"])

    def _fork(self) -> TextIO:
        """Returns the process's standard output, which stays open until it ends."""
        command = ["serve", "--port", "0", "--data-dir", str(self._folder)]
        out, theirs = os.pipe()
        with open(os.devnull) as nothing, open(theirs, "wb") as into:
            streams = [nothing.fileno(), into.fileno(), 2]
            self._process = self._commands.start_on(
                streams, *command, folder=self._folder, environment=self._environment
            )
        return open(out)
