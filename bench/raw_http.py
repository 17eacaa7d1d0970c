"""HTTP/1.1 over a plain socket: a client that costs next to nothing, so that the server is what is measured."""

from __future__ import annotations

import socket
import time
from urllib.parse import urlsplit

import orjson


class Connection:
    """One keep-alive connection of one caller."""

    def __init__(self, base_url: str, token: str) -> None:
        parts = urlsplit(base_url)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._headers = f"Host: {parts.netloc}\r\nAuthorization: Bearer {token}\r\n"
        self._buffer = b""

    def get(self, path: str) -> bytes:
        return f"GET {path} HTTP/1.1\r\n{self._headers}\r\n".encode()

    def post(self, path: str, body: object) -> bytes:
        payload = orjson.dumps(body)
        head = f"POST {path} HTTP/1.1\r\n{self._headers}Content-Type: application/json\r\n"
        return f"{head}Content-Length: {len(payload)}\r\n\r\n".encode() + payload

    def ask(self, request: bytes) -> bytes:
        self.socket.sendall(request)
        return self.answer()

    def timed(self, request: bytes) -> float:
        started = time.perf_counter()
        self.socket.sendall(request)
        self.answer()
        return time.perf_counter() - started

    def answer(self) -> bytes:
        """The body of the next answer, which must be a success and say its length."""
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            self._read()
        head, self._buffer = self._buffer[:end].lower(), self._buffer[end + 4 :]
        length = int(head.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0])
        while len(self._buffer) < length:
            self._read()
        body, self._buffer = self._buffer[:length], self._buffer[length:]
        if not head.startswith(b"http/1.1 2"):
            raise RuntimeError(f"{head.splitlines()[0].decode()}: {body.decode()}")
        return body

    def until(self, mark: bytes) -> None:
        """Reads until these bytes have arrived, for streams of events."""
        while (found := self._buffer.find(mark)) < 0:
            self._read()
        self._buffer = self._buffer[found + len(mark) :]

    def close(self) -> None:
        self.socket.close()

    def _read(self) -> None:
        chunk = self.socket.recv(65536)
        if not chunk:
            raise RuntimeError("the server has closed the connection")
        self._buffer += chunk
