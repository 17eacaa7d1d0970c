"""Forks a worker, served over HTTP, for each line on stdin.

All modules are loaded, so a start takes tens of milliseconds, and a killed worker is as dead as any process. Each line
is a `workers.Order`. The databases on the command line are for warming up.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import os
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import majlis.runs.worker
from majlis.gateway import Gateway, open_gateway
from majlis.http_server import Server, bind
from majlis.logs import set_up_logging
from majlis.settings import Settings
from tests.acceptance import crash_points, effect_tools
from tests.acceptance.warm_up import warm_up


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for url in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            warm_up(Settings(database_url=url, data_dir=Path(folder), port=0))
    for line in sys.stdin:
        if os.fork() == 0:
            sys.stdin.close()
            _die_with_parent()
            try:
                asyncio.run(_serve(json.loads(line)))
            except BaseException:
                traceback.print_exc()
                _tell({"error": traceback.format_exc()})
            os._exit(0)


async def _serve(order: dict[str, Any]) -> None:
    settings = Settings.model_validate(order["settings"])
    set_up_logging(settings)
    majlis.runs.worker.POLL_MILLIS = order["poll_millis"]
    majlis.runs.worker.GRACE_SECONDS = order["grace_seconds"]
    effect_tools.effects = Path(order["folder"]) / "effects"
    effect_tools.gate = Path(order["tool_gate"]) if order["tool_gate"] else None
    listener = bind(settings)
    gateway = await open_gateway(settings)
    if order["die_at"] or order["stay_after"]:
        crash_points.arm(gateway, order["die_at"], order["stay_after"], Path(order["folder"]) / "places")
    _report_when_asked(gateway, Path(order["folder"]))
    _tell({"pid": os.getpid(), "port": listener.getsockname()[1]})
    await Server(gateway).serve(sockets=[listener])


def _die_with_parent() -> None:
    """No worker outlives its tests, not even a paused one of an interrupted test."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _report_when_asked(gateway: Gateway, folder: Path) -> None:
    """On SIGUSR1, writes down the resources that this process holds."""

    def report() -> None:
        gc.collect()
        facts = {
            "tasks": len(asyncio.all_tasks()),
            "files": len(os.listdir("/proc/self/fd")),
            "kilobytes": _kilobytes("RssAnon"),
            "mapped_kilobytes": _kilobytes("RssFile"),
            "runs": gateway.worker.active if gateway.worker else 0,
        }
        unfinished = folder / f"report.{os.getpid()}.new"
        unfinished.write_text(json.dumps(facts))
        unfinished.rename(folder / f"report.{os.getpid()}")

    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, report)


def _kilobytes(kind: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(kind))


def _tell(answer: dict[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(answer)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
