"""Memory of a gateway that has nothing to do: over an empty one, what a thousand and ten thousand agents cost, and ten
thousand runs that wait. An agent at rest and a run that waits are rows: they may cost next to nothing, and no task."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from bench.crowds import add_idle_agents, add_waiting_runs
from bench.gateways import new_runner
from bench.results import Result
from bench.stage import Stage
from majlis.gateway import open_gateway
from majlis.settings import Settings
from majlis.store.transactions import Tx

LIMIT_MB = 20.0
_MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Rest:
    resident: float
    tasks: int


def measure(stage: Stage) -> list[Result]:
    empty = _rest(stage, lambda tx: None)
    crowds: list[tuple[str, Callable[[Tx], object], float | None]] = [
        ("1,000 idle agents", partial(add_idle_agents, count=1000), None),
        ("10,000 idle agents", partial(add_idle_agents, count=10_000), None),
        ("10,000 waiting runs", partial(add_waiting_runs, agents=100, count=10_000), LIMIT_MB),
    ]
    found = [Result("empty gateway: memory", stage.engine, empty.resident, "MB")]
    for name, crowd, limit in crowds:
        rest = _rest(stage, crowd)
        found.append(Result(f"{name}: memory", stage.engine, rest.resident - empty.resident, "MB", limit=limit))
        found.append(Result(f"{name}: tasks", stage.engine, rest.tasks - empty.tasks, "tasks", limit=0))
    return found


def _rest(stage: Stage, crowd: Callable[[Tx], object]) -> Rest:
    """Medians over processes, because the allocator alone varies by a megabyte."""
    url, folder = stage.fresh(), tempfile.mkdtemp(dir=stage.folder)
    with new_runner() as runner:
        gateway = runner.run(open_gateway(Settings(database_url=url, data_dir=Path(folder), port=0, demo=False)))
        runner.run(gateway.db.write(crowd))
        runner.run(gateway.db.close())
    times = 1 if stage.quick else 3
    found = [_once(url, folder) for _ in range(times)]
    return Rest(median(one["resident"] for one in found) / _MB, max(one["tasks"] for one in found))


def _once(url: str, folder: str) -> dict[str, int]:
    command = [sys.executable, "-m", "bench.resident", url, folder]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found
