"""Worker processes that a test starts, stops, pauses and kills. fork_server.py forks them, so they start quickly."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.acceptance.processes import OWNER_TOKEN
from tests.conditions import PATIENCE_SECONDS, until
from tests.world import Person

# How often a worker without wake-ups polls.
EAGER_MILLIS = 20
NEVER_MILLIS = 3_600_000


@dataclass(frozen=True)
class Order:
    """`folder` gets the effects of its tools, the crash points it passed and its reports."""

    settings: dict[str, Any]
    folder: str
    poll_millis: int = 1000
    grace_seconds: float = 0.2
    die_at: int = 0
    stay_after: str = ""
    tool_gate: str = ""


@dataclass
class Report:
    """Resident memory: the process's own, and mapped files, which the system may reclaim."""

    tasks: int
    files: int
    kilobytes: int
    mapped_kilobytes: int
    runs: int


@dataclass
class WorkerProcess:
    pid: int
    base_url: str
    folder: Path
    people: list[Person] = field(default_factory=list)

    @property
    def gone(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        return False

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def pause(self) -> None:
        self._send(signal.SIGSTOP)

    def go_on(self) -> None:
        self._send(signal.SIGCONT)

    def terminate(self) -> None:
        """Like an operator."""
        self._send(signal.SIGTERM)

    async def until_gone(self) -> None:
        await until(lambda: self.gone)

    async def owner(self) -> Person:
        """The gateway's owner, through this process."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            person = Person(self.base_url, OWNER_TOKEN, "", "")
            self.people.append(person)
            me = await person.ok("GET", "/api/me")
            person.id, person.name = me["id"], me["name"]
            return person

    async def report(self) -> Report:
        file = self.folder / f"report.{self.pid}"
        file.unlink(missing_ok=True)
        self._send(signal.SIGUSR1)
        await until(file.exists)
        return Report(**json.loads(file.read_text()))

    def _send(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)


class ForkServer:
    """Starts the process that forks workers: one for all tests of a session."""

    def __init__(self, log: Path, *databases: str) -> None:
        self._log = log.open("wb")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.acceptance.fork_server", *databases],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )

    def fork(self, order: Order) -> tuple[int, int]:
        """Process id and port."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(order)).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer["pid"], answer["port"]

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._log.close()


class Workers:
    """The workers of one test, on one database."""

    def __init__(self, fork_server: ForkServer, database_url: str, folder: Path) -> None:
        self._fork_server = fork_server
        self._forking = asyncio.Lock()
        self._started: list[WorkerProcess] = []
        self._database_url = database_url
        self.folder = folder
        self.bus_url = ""
        # Settings of the gateway besides the usual ones.
        self.more: dict[str, Any] = {}

    def settings(self, **more: Any) -> dict[str, Any]:
        return {
            "database_url": self._database_url,
            "bus_url": self.bus_url,
            "data_dir": str(self.folder),
            "port": 0,
            "demo": False,
            "owner_token": OWNER_TOKEN,
            "tool_modules": ["tests.acceptance.effect_tools"],
            **self.more,
            **more,
        }

    async def start(self, folder: Path | None = None, slots: int = 64, **more: Any) -> WorkerProcess:
        """`more` are fields of an Order."""
        folder = folder or self.folder
        order = Order(self.settings(workers=slots), str(folder), **more)
        async with self._forking:
            pid, port = await asyncio.to_thread(self._fork_server.fork, order)
        self._started.append(WorkerProcess(pid, f"http://127.0.0.1:{port}", folder))
        return self._started[-1]

    async def close(self) -> None:
        for worker in self._started:
            for person in worker.people:
                await person.http.aclose()
            worker.kill()
        for worker in self._started:
            await worker.until_gone()
