"""`make storm`: storms with real processes, one after another."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from statistics import median

from tests.cli.processes import Commands
from tests.databases import PostgresDatabases, postgres_server
from tests.nats_servers import NatsServer
from tests.storms.network import Host, missing, network
from tests.storms.storm import Report, Storm

_ROUND_SECONDS = 120.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="make storm")
    parser.add_argument("--minutes", type=float, default=5, help="of faults; the calm after each storm comes on top")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--one-machine", action="store_true", help="no hosts of their own, no faults of the network")
    parser.add_argument("--least", type=int, default=1, help="messages in each storm, at least")
    parser.add_argument("--pace", type=float, default=2.0, help="seconds between faults, on average")
    parser.add_argument("--keep", action="store_true", help="the nodes' logs, also of storms that broke nothing")
    given = parser.parse_args()
    # Before anything is started: what runs already stays on the machine's own network.
    left_out = "--one-machine was given" if given.one_machine else missing()
    commands, reports = Commands(), list[Report]()
    if left_out:
        print(f"all nodes run on this machine, without partitions, one-way loss and slow links: {left_out}")
    folder = Path(tempfile.mkdtemp(prefix="majlis-storm-"))
    with postgres_server() as url:
        databases = PostgresDatabases(url)
        left = given.minutes * 60
        while left > 0:
            seconds = min(_ROUND_SECONDS, max(3.0, left))
            left -= seconds
            seed = given.seed + len(reports)
            with nullcontext(()) if left_out else network(3) as hosts:
                reports.append(_round(databases, commands, folder / str(seed), seed, seconds, given, hosts))
            _print(seed, reports[-1])
            if not reports[-1].broken and not given.keep:
                shutil.rmtree(folder / str(seed))
    commands.close()
    _summarize(reports)
    if any(folder.iterdir()):
        print(f"logs: {folder}")
    else:
        folder.rmdir()
    return 1 if any(report.broken for report in reports) else 0


def _round(
    databases: PostgresDatabases,
    commands: Commands,
    folder: Path,
    seed: int,
    seconds: float,
    given: argparse.Namespace,
    hosts: Sequence[Host],
) -> Report:
    folder.mkdir()
    url, nats = databases.fresh(), NatsServer(hosts[0].gateway if hosts else "127.0.0.1")
    nats.start()
    try:
        crashes = "MAJLIS_TEST_DATABASE_URL" not in os.environ
        storm = Storm(url, nats, commands, folder, seed, crashes, hosts)
        return asyncio.run(storm.run(seconds, given.least, given.pace))
    finally:
        nats.stop()
        databases.drop(url)


def _print(seed: int, report: Report) -> None:
    faults = ", ".join(f"{count} {name}" for name, count in sorted(report.faults.items()))
    print(
        f"seed {seed}: {report.messages} messages, {report.runs} runs, {report.events} events; {faults}; "
        f"quiet {report.recovery_seconds:.1f} s after the faults; {report.taken_over} runs taken over; "
        f"refused requests {report.refusals}",
        flush=True,
    )
    for broken in report.broken:
        print(f"  broken: {broken}", flush=True)


def _summarize(reports: list[Report]) -> None:
    faults: Counter[str] = sum((report.faults for report in reports), Counter())
    take_overs = [each for report in reports for each in report.take_overs]
    print(
        f"\n{len(reports)} storms: {sum(r.messages for r in reports)} messages, {sum(r.runs for r in reports)} runs, "
        f"{sum(r.events for r in reports)} events, {sum(r.taken_over for r in reports)} runs taken over"
    )
    print(f"faults: {dict(faults)}, {faults.total()} in all")
    print(f"broken promises: {sum(len(report.broken) for report in reports)}")
    _print_times("until everything had ended", [report.recovery_seconds for report in reports])
    _print_times(
        "take-overs after kill -9, on the same host", [each.seconds for each in take_overs if not each.elsewhere]
    )
    _print_times("take-overs after kill -9, from another host", [each.seconds for each in take_overs if each.elsewhere])


def _print_times(what: str, seconds: list[float]) -> None:
    if seconds:
        print(f"{what}: {len(seconds)}, median {median(seconds):.1f} s, longest {max(seconds):.1f} s")


if __name__ == "__main__":
    sys.exit(main())
