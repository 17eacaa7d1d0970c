"""`majlis` processes that a test starts, talks to and ends; forked by fork_server.py, so they start quickly."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path


class Commands:
    """Starts them: one for all tests of a session, itself started when the first of them asks."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._orders: socket.socket | None = None

    async def start(self, *arguments: str | bytes, folder: Path, environment: dict[str, str]) -> CommandProcess:
        """With a pipe for each of its streams."""
        pipes = [os.pipe() for _ in range(3)]
        theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
        ours = [pipes[0][1], pipes[1][0], pipes[2][0]]
        forked = self.start_on(theirs, *arguments, folder=folder, environment=environment)
        for end in theirs:
            os.close(end)
        await forked.open_pipes(*ours)
        return forked

    def start_on(
        self, streams: list[int], *arguments: str | bytes, folder: Path, environment: dict[str, str]
    ) -> CommandProcess:
        """On three files that the caller has opened."""
        order = {
            "arguments": [os.fsdecode(argument) for argument in arguments],
            "folder": str(folder),
            "environment": environment,
        }
        content = json.dumps(order).encode()
        told, telling = socket.socketpair()
        orders = self._fork_server()
        with telling:
            socket.send_fds(orders, [len(content).to_bytes(4)], [*streams, telling.fileno()])
        orders.sendall(content)
        return CommandProcess(told)

    def close(self) -> None:
        if self._process is not None and self._orders is not None:
            self._orders.close()
            self._process.wait()

    def _fork_server(self) -> socket.socket:
        if self._orders is None:
            self._orders, taken = socket.socketpair()
            with taken:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "tests.cli.fork_server", str(taken.fileno())],
                    cwd=Path(__file__).parents[2],
                    stdin=subprocess.DEVNULL,
                    pass_fds=[taken.fileno()],
                )
        return self._orders


class CommandProcess:
    """The part of `asyncio.subprocess.Process` that tests need. The fork server sends its id and exit code."""

    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader

    def __init__(self, told: socket.socket) -> None:
        self._told = told
        self.pid = int.from_bytes(told.recv(4, socket.MSG_WAITALL))
        assert self.pid, "the fork server has ended; its output is above"
        self.returncode: int | None = None
        self._ending = asyncio.create_task(self._end())
        self._pipes: list[asyncio.BaseTransport] = []

    async def open_pipes(self, stdin: int, stdout: int, stderr: int) -> None:
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(stdin, "wb", 0))
        self.stdin = asyncio.StreamWriter(transport, protocol, None, loop)
        self.stdout, self.stderr = [await self._read(end) for end in (stdout, stderr)]
        self._pipes.append(transport)

    async def communicate(self, content: bytes = b"") -> tuple[bytes, bytes]:
        """Hands over the rest of the input, and gives the rest of the output."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.stdin.write(content)
            await self.stdin.drain()
        self.stdin.close()
        out, err = await asyncio.gather(self.stdout.read(), self.stderr.read())
        await self.wait()
        for pipe in self._pipes:
            pipe.close()
        return out, err

    def hang_up(self) -> None:
        """Closes the reading end of its output."""
        self._pipes[0].close()

    def send_signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        return await asyncio.shield(self._ending)

    async def _end(self) -> int:
        self._told.setblocking(False)
        with self._told:
            code = await asyncio.get_running_loop().sock_recv(self._told, 4)
        self.returncode = int.from_bytes(code, signed=True)
        return self.returncode

    async def _read(self, end: int) -> asyncio.StreamReader:
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(end, "rb", 0)
        )
        self._pipes.append(transport)
        return reader
