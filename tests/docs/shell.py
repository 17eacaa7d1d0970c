"""`majlis` and `python` for the shells of the docs. `majlis` is a fork of a process that has everything loaded, since
Python's start takes longer than most commands."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.cli.processes import Commands

_REAL = """#!/bin/sh
exec "{1}" {0} "$@"
"""
_CLIENT = """#!{0} -ISE
import json, os, socket, sys
asking = socket.socket(socket.AF_UNIX)
asking.connect({1!r})
order = {{"arguments": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}}
socket.send_fds(asking, [b"x"], [0, 1, 2])
asking.sendall(json.dumps(order).encode() + b"\\n")
sys.exit(int.from_bytes(asking.recv(4, socket.MSG_WAITALL), signed=True))
"""


@asynccontextmanager
async def programs(folder: Path, commands: Commands) -> AsyncIterator[str]:
    """A PATH."""
    address = str(folder / "socket")
    path = _write(folder, python=_REAL.format("", sys.executable), majlis=_CLIENT.format(sys.executable, address))
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(8)
        listener.setblocking(False)
        serving: set[asyncio.Task[None]] = set()

        def accept() -> None:
            task = loop.create_task(_serve(listener.accept()[0], commands))
            serving.add(task)
            task.add_done_callback(serving.discard)

        loop.add_reader(listener, accept)
        try:
            yield path
        finally:
            loop.remove_reader(listener)
            await asyncio.gather(*serving)


def real_programs(folder: Path) -> str:
    return _write(folder, majlis=_REAL.format("-m majlis", sys.executable))


async def _serve(asking: socket.socket, commands: Commands) -> None:
    with asking:
        # The client sends both at once.
        _, streams, _, _ = socket.recv_fds(asking, 1, 3)
        with asking.makefile("rb") as order:
            given = json.loads(order.readline())
        folder = Path(given["folder"])
        command = commands.start_on(streams, *given["arguments"], folder=folder, environment=given["environment"])
        for stream in streams:
            os.close(stream)
        code = await command.wait()
        asking.sendall(code.to_bytes(4, signed=True))


def _write(folder: Path, **scripts: str) -> str:
    folder.mkdir()
    for name, text in scripts.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"
