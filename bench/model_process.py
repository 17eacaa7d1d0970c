"""The tests' scripted Chat Completions server in a process of its own, which says when each request had come in.

`python -m bench.model_process` prints its address, then a line for each request: a moment of the machine's monotonic
clock, which is the same for every process.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from tests.model_server import Asked, ModelServer, Reply, silent


@dataclass(frozen=True, slots=True)
class Arrivals:
    """`choice` is for an agent's config."""

    choice: dict[str, Any]
    _lines: IO[str]

    def next(self) -> float:
        """Waits for the next request. Returns when it had arrived, by `time.perf_counter`."""
        return float(self._lines.readline())


@contextmanager
def scripted_model() -> Iterator[Arrivals]:
    command = [sys.executable, "-m", "bench.model_process"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        yield Arrivals({"provider": "openai", "name": "scripted", "baseUrl": base_url}, process.stdout)
        process.stdin.close()


def _note(asked: Asked) -> Reply:
    print(time.perf_counter(), flush=True)
    return silent()


async def _serve() -> None:
    async with ModelServer(_note) as server:
        print(server.base_url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve())
