"""`majlis serve` as a process that keeps its address and its data when it is killed and started again."""

from __future__ import annotations

import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from tests.conditions import until
from tests.ports import free_port
from tests.world import Person, World

ROOT = Path(__file__).parents[1]
_OWNER = "owner-token-for-tests-only-0123456789"
# A process starts slowly on a busy machine.
_START_SECONDS = 120
# An event whose response was lost is offered again when its lease of a minute has ended.
LEASE_PATIENCE_SECONDS = 180


@asynccontextmanager
async def running(*arguments: str, python: str | Path = sys.executable, **environment: str) -> AsyncIterator[Process]:
    """A Python program, from the folder of the repository."""
    given = {"PATH": "", "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", **environment}
    process = await create_subprocess_exec(str(python), *arguments, cwd=ROOT, env=given, stdout=DEVNULL)
    try:
        yield process
    finally:
        await _kill(process)


class GatewayProcess:
    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.world = World(self.url, Person(self.url, _OWNER, "", ""))
        self._command = ("-m", "majlis", "serve", "--port", str(port), "--data-dir", str(folder / "data"))
        self._environment = {"PYTHONPATH": str(ROOT), "HOME": str(folder), "PATH": "", "MAJLIS_DEMO": "false"}
        self._environment |= {"MAJLIS_OWNER_TOKEN": _OWNER, "MAJLIS_LOG_LEVEL": "error", **settings}
        self._process: Process | None = None

    @property
    def owner(self) -> Person:
        return self.world.owner

    async def start(self) -> None:
        self._process = await create_subprocess_exec(
            sys.executable, *self._command, cwd=ROOT, env=self._environment, stdout=DEVNULL
        )
        await until(self._is_up, _START_SECONDS)

    async def kill(self) -> None:
        """With SIGKILL, so that it can finish nothing."""
        assert self._process is not None
        await _kill(self._process)

    async def said(self, space: str) -> list[tuple[str, str]]:
        """Senders and texts, oldest first."""
        page = await self.owner.history(space, limit=200)
        return [(message["sender"]["name"], message["text"]) for message in page["messages"]]

    async def _is_up(self) -> bool:
        assert self._process is not None
        assert self._process.returncode is None, "majlis serve has ended"
        try:
            return (await self.owner.get("/api/health")).is_success
        except httpx.TransportError:
            return False


async def _kill(process: Process) -> None:
    if process.returncode is None:
        process.kill()
    await process.wait()


@asynccontextmanager
async def open_gateway(folder: Path, **settings: str) -> AsyncIterator[GatewayProcess]:
    """Settings are environment variables."""
    gateway = GatewayProcess(folder, settings)
    try:
        await gateway.start()
        yield gateway
    finally:
        await gateway.kill()
        await gateway.world.close()
