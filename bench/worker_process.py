"""A second worker on the database of a measure: `python -m bench.worker_process URL FOLDER`, until its input ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.gateways import new_runner
from bench.models import OneModel, TalkingModel
from majlis.gateway import open_gateway
from majlis.settings import Settings


@contextmanager
def other_worker(url: str, data_dir: Path) -> Iterator[None]:
    """With the folder of the first gateway, which holds the server's key."""
    command = [sys.executable, "-m", "bench.worker_process", url, str(data_dir)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        if process.stdout.readline() != "ready\n":
            raise RuntimeError("the second worker ended before it was ready")
        yield
    finally:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


async def _work(url: str, data_dir: str) -> None:
    gateway = await open_gateway(Settings(database_url=url, data_dir=Path(data_dir), port=0, demo=False))
    gateway.engine.models = OneModel(TalkingModel())
    await gateway.start()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await gateway.close()


if __name__ == "__main__":
    with new_runner() as runner:
        runner.run(_work(*sys.argv[1:]))
