"""One process of `majlis prove`: runs schedules and prints a line of JSON for each."""

from __future__ import annotations

import logging
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import orjson
import structlog

from majlis.prove.schedule import run_schedule


def work(first: int, count: int, step: int, traced: bool) -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    memory = Path("/dev/shm")  # noqa: S108
    with tempfile.TemporaryDirectory(prefix="majlis-prove-", dir=memory if memory.is_dir() else None) as folder:
        for n in range(count):
            outcome = run_schedule(first + n * step, Path(folder), traced)
            sys.stdout.buffer.write(orjson.dumps(asdict(outcome)) + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    work(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), traced=sys.argv[4] == "traced")
