"""`majlis prove`: simulates faults and checks that nothing is lost, doubled or stuck."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from typing import TYPE_CHECKING

import typer

from majlis.cli.command import AsJson
from majlis.cli.terminal import print_json, print_table

# The simulator loads the whole gateway, which `majlis --help` must not wait for.
if TYPE_CHECKING:
    from majlis.prove.many import Outcome

_MOST_SHOWN = 10


def prove(
    schedules: int = typer.Option(1000, min=1, help="Number of schedules to run."),
    seed: int = typer.Option(1, min=0, help="The first seed. The same seed gives the same schedule."),
    trace: bool = typer.Option(False, "--trace", help="Run one schedule and print what happens, step by step."),
    jobs: int = typer.Option(0, min=0, help="Processes; 0: one for each core."),
    as_json: AsJson = False,
) -> None:
    """Check what Majlis promises, under simulated faults.

    Runs the real code on a simulated clock, network and model: nodes die, freeze and come back, messages between them
    get lost. No server is needed, and your data is not touched.
    """
    if trace:
        _replay(seed, as_json)
    else:
        _run(seed, schedules, jobs or os.cpu_count() or 1, as_json)


def _replay(seed: int, as_json: bool) -> None:
    from majlis.prove.many import run_schedules

    found: list[Outcome] = []
    asyncio.run(run_schedules(seed, 1, 1, True, found.append))
    if as_json:
        print_json({"seed": seed, "trace": found[0].trace, "broken": found[0].broken})
    else:
        for line in (*found[0].trace, *(f"Broken: {broken}" for broken in found[0].broken)):
            typer.echo(line)
    if found[0].broken:
        raise typer.Exit(1)
    if not as_json:
        typer.echo("Every promise was kept.")


def _run(first: int, count: int, jobs: int, as_json: bool) -> None:
    from majlis.prove.many import run_schedules
    from majlis.transfer.report import Progress

    began = time.monotonic()
    outcomes: list[Outcome] = []
    with Progress("Schedules") as progress:
        progress.total = count

        def add(outcome: Outcome) -> None:
            outcomes.append(outcome)
            progress.advance(1)

        asyncio.run(run_schedules(first, count, jobs, False, add))
    if as_json:
        totals: Counter[str] = sum((Counter(outcome.counts) for outcome in outcomes), Counter())
        broken = [{"seed": each.seed, "broken": each.broken} for each in outcomes if each.broken]
        print_json({"schedules": len(outcomes), "counts": totals, "broken": broken})
    else:
        _print_outcomes(outcomes, time.monotonic() - began)
    if any(outcome.broken for outcome in outcomes):
        raise typer.Exit(1)


def _print_outcomes(outcomes: list[Outcome], seconds: float) -> None:
    from majlis.prove.many import PROMISES

    broken = Counter(name for outcome in outcomes for name in {_promise(each) for each in outcome.broken})
    rows = [(name, says, f"{broken[name]:,}" if broken[name] else "-") for name, says in PROMISES.items()]
    print_table(("PROMISE", "MEANING", "BROKEN"), rows)
    totals: Counter[str] = sum((Counter(outcome.counts) for outcome in outcomes), Counter())
    happened = ", ".join(f"{totals[name]:,} {name}" for name in ("messages", "runs", "transactions", "deaths"))
    typer.echo(f"\n{len(outcomes):,} schedules in {seconds:.0f} s: {happened}.")
    failed = sorted((outcome for outcome in outcomes if outcome.broken), key=lambda outcome: outcome.seed)
    for outcome in failed[:_MOST_SHOWN]:
        typer.echo(f"Broken with seed {outcome.seed}: {outcome.broken[0]}")
        typer.echo(f"  Replay it with: majlis prove --seed {outcome.seed} --trace")
    if not failed:
        typer.echo("Every promise was kept.")


def _promise(broken: str) -> str:
    return broken.partition(":")[0]
