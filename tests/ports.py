"""Ports for servers that a test starts, stops and restarts."""

from __future__ import annotations

import secrets
import socket

# Below the range for outgoing connections, so that none takes the port while its server is down.
_RANGE = range(10_000, 32_000)


def free_port() -> int:
    while True:
        port = secrets.choice(_RANGE)
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
