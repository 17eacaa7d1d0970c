"""A real `majlis serve`, in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench.raw_http import Connection
from bench.scenes import Person, Scene

_ENVIRONMENT = {
    # The limit is checked and never refuses.
    "MAJLIS_REQUESTS_PER_SECOND": "1000000",
    "MAJLIS_REQUESTS_BURST": "1000000",
    "MAJLIS_LOG_LEVEL": "warning",
}
RUN = "from majlis.cli.main import run; run()"


@dataclass(frozen=True, slots=True)
class Served:
    base_url: str
    pid: int

    def connect(self, person: Person) -> Connection:
        return Connection(self.base_url, person.token)

    @property
    def resident_kb(self) -> int:
        with open(f"/proc/{self.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


@contextmanager
def serve(scene: Scene, bus_url: str = "", altered: str = "") -> Iterator[Served]:
    """`altered` is Python that runs first, to measure what a choice of ours is worth."""
    command = [sys.executable, "-c", f"{altered}\n{RUN}", "serve", "--port", "0", "--data-dir", str(scene.folder)]
    command += ["--database-url", scene.url, *(["--bus-url", bus_url] if bus_url else [])]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **_ENVIRONMENT}, text=True)
    try:
        yield Served(_address(process), process.pid)
    finally:
        process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        found = re.search(r"https?://\S+", line)
        if found:
            return found[0]
    raise RuntimeError("majlis serve ended before it was ready")
