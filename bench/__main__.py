"""`python -m bench`: run the measures and print one table. The exit code says whether all are within their limits."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from bench import (
    assembly,
    context,
    cycles,
    durability,
    flat,
    idle_streams,
    live,
    memory,
    nodes,
    posting,
    prefix,
    queries,
    rooms,
    runs,
    start,
    throughput,
    transfer,
    wake,
    woken,
)
from bench.results import ENGINES, Engine, Result
from bench.stage import Stage, open_stage
from bench.table import as_table
from majlis.logs import set_up_logging
from majlis.settings import Settings

Measure = Callable[[Stage], list[Result]]
MEASURES: dict[str, Measure] = {
    "post": posting.measure,
    "queries": queries.measure,
    "idle": idle_streams.measure,
    "live": live.measure,
    "flat": flat.measure,
    "durability": durability.measure,
    "wake": wake.measure,
    "context": context.measure,
    "runs": runs.measure,
    "throughput": throughput.measure,
    "peers": throughput.measure_peers,
    "prefix": prefix.measure,
    "memory": memory.measure,
    "assembly": assembly.measure,
    "woken": woken.measure,
    "nodes": nodes.measure,
    "cycles": cycles.measure,
    "transfer": transfer.measure,
    "start": start.measure,
}


def main() -> int:
    options = _options()
    set_up_logging(Settings(log_level="warning"))
    console = Console(stderr=True)
    load_before = os.getloadavg()[0]
    results: list[Result] = []
    engines = (options.engine,) if options.engine else ENGINES
    for engine in engines:
        results += _run(engine, options.only or list(MEASURES), options.quick, console)
    Console(width=110).print(as_table(results, load_before))
    if options.profile:
        for engine in engines:
            with open_stage(engine, options.quick) as stage:
                Console(width=110).print(rooms.profile(stage))
    if options.json:
        found = {"loadBefore": load_before, "results": [asdict(result) for result in results]}
        options.json.write_text(json.dumps(found, indent=2) + "\n")
    return 1 if any(result.over for result in results) else 0


def _run(engine: Engine, names: list[str], quick: bool, console: Console) -> list[Result]:
    found: list[Result] = []
    with open_stage(engine, quick) as stage:
        for name in names:
            with console.status(f"{name} on {engine}"):
                found += MEASURES[name](stage)
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench", description="Measure Majlis. Figures are ratios of one run.")
    parser.add_argument("--only", action="append", choices=MEASURES, metavar="NAME", help=", ".join(MEASURES))
    parser.add_argument("--engine", choices=ENGINES, help="one engine instead of both")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, and a tenth of the million messages")
    parser.add_argument("--profile", action="store_true", help="also say where the time of `throughput` goes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file, too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
