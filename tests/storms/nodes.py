"""The processes of a storm: `majlis serve` and `majlis worker`, which are killed, stopped and started again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path

import httpx

from majlis.runs.claim.lease import realm
from tests.acceptance.processes import OWNER_TOKEN
from tests.cli.processes import CommandProcess, Commands
from tests.conditions import until
from tests.ports import free_port
from tests.storms.network import Host


class Node:
    def __init__(
        self,
        commands: Commands,
        name: str,
        folder: Path,
        database_url: str,
        bus_url: str,
        clock_ahead: int,
        host: Host | None,
        apart: bool,
    ) -> None:
        """Without a `host`, it runs on this machine. `apart`: with process ids of its own, so that other nodes cannot
        see whether it lives."""
        self.name = name
        self.host = host
        self.serves = name.startswith("serve")
        self._commands = commands
        self._folder = folder
        self._port = free_port()
        self._process: CommandProcess | None = None
        self._environment = {
            **os.environ,
            "MAJLIS_DATABASE_URL": database_url,
            "MAJLIS_BUS_URL": bus_url,
            "MAJLIS_OWNER_TOKEN": OWNER_TOKEN,
            "MAJLIS_DEMO": "false",
            "MAJLIS_LOG_FORMAT": "json",
            "MAJLIS_WORKERS": "16",
            "TEST_CLOCK_AHEAD_SECONDS": str(clock_ahead),
        }
        if host is not None:
            self._environment |= {"TEST_NETWORK": host.namespace, "MAJLIS_HOST": host.address}
            self._environment |= {"MAJLIS_MODEL_HOSTS": host.gateway}
        if apart:
            self._environment["TEST_PROCESSES"] = "own"

    @property
    def base_url(self) -> str:
        return f"http://{self.host.address if self.host else '127.0.0.1'}:{self._port}"

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def owner(self) -> str:
        """What its name begins with where it has a lease."""
        assert self._process is not None
        process = Path(f"/proc/{self._process.pid}")
        ids = next(line for line in (process / "status").read_text().splitlines() if line.startswith("NSpid:"))
        return f"{realm(process.name)}.{ids.split()[-1]}."

    def start(self) -> None:
        command = ["serve", "--port", str(self._port)] if self.serves else ["worker"]
        log = self._folder / f"{self.name}.log"
        with open(os.devnull) as nothing, log.open("ab") as into:
            streams = [nothing.fileno(), into.fileno(), into.fileno()]
            arguments = (*command, "--data-dir", str(self._folder))
            self._process = self._commands.start_on(
                streams, *arguments, folder=self._folder, environment=self._environment
            )

    async def until_ready(self) -> None:
        if not self.serves:
            return

        async def ready() -> bool:
            await self.ensure()
            with contextlib.suppress(httpx.HTTPError):
                async with httpx.AsyncClient(verify=False) as http:
                    return (await http.get(f"{self.base_url}/api/health/ready")).status_code == 200
            return False

        await until(ready, patience=300)

    async def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    def stop(self) -> None:
        self._send(signal.SIGSTOP)

    def go_on(self) -> None:
        self._send(signal.SIGCONT)

    async def end(self) -> None:
        if self.running:
            self.go_on()
            await self.kill()

    async def ensure(self) -> None:
        """Starts it again if it has ended: a server gives up if its database is away for too long at the start."""
        if not self.running:
            self.start()
            await asyncio.sleep(0)

    def _send(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)
