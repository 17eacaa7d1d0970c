"""Real `majlis serve` processes, for what only shows between processes: crashes, and several on one database."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import httpx

from tests.world import Person

OWNER_TOKEN = "owner-token-for-tests-only-0123456789"


class ServerProcess:
    def __init__(self, database_url: str, data_dir: Path, bus_url: str = "", **environment: str) -> None:
        self.base_url = ""
        self._process: asyncio.subprocess.Process | None = None
        self._command = [sys.executable, "-m", "majlis", "serve", "--port", "0", "--data-dir", str(data_dir)]
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MAJLIS_")},
            "MAJLIS_DATABASE_URL": database_url,
            "MAJLIS_OWNER_TOKEN": OWNER_TOKEN,
            "MAJLIS_BUS_URL": bus_url,
            "PYTHONUNBUFFERED": "1",
            **environment,
        }

    async def start(self) -> ServerProcess:
        self._process = await asyncio.create_subprocess_exec(
            *self._command, env=self._environment, stdout=asyncio.subprocess.PIPE
        )
        assert self._process.stdout is not None
        line = (await self._process.stdout.readline()).decode()
        assert line.startswith("Majlis is at "), line
        self.base_url = line.removeprefix("Majlis is at ").strip()
        return self

    async def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    async def stop(self) -> int:
        """As an operator would: SIGTERM, and wait for a clean end."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return await self._process.wait()

    async def owner(self) -> Person:
        async with httpx.AsyncClient(base_url=self.base_url) as http:
            answer = await http.get("/api/me", headers={"Authorization": f"Bearer {OWNER_TOKEN}"})
        me = answer.json()
        return Person(self.base_url, OWNER_TOKEN, me["id"], me["name"])
