"""The one table that a run prints: beside our figures the floor, or a peer that does the same."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.table import Table

from bench.results import Result

_DIGITS = {"s": 2, "ms": 2, "KB": 1, "MB": 1, "/s": 0, "%": 1, "statements": 0, "tasks": 0, "rows": 0}


def as_table(results: Sequence[Result], load_before: float) -> Table:
    table = Table("measure", "engine", caption=_load(load_before))
    for heading in ("ours", "floor", "peer", "ratio", "limit"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for result in results:
        table.add_row(
            result.measure,
            result.engine,
            _figure(result, result.ours),
            _figure(result, result.floor),
            _figure(result, result.peer),
            "" if result.ratio is None else f"{result.ratio:.2f}",
            _bounds(result),
            _verdict(result),
        )
    return table


def _load(before: float) -> str:
    """Ratios tolerate some noise. Other programs that flush the same disk slow down the floor more than Majlis, which
    makes Majlis look better."""
    said = f"{os.cpu_count()} cores, load {before:.1f} before the run"
    busy = before > (os.cpu_count() or 1) / 2
    return f"{said}: the machine was busy, so these figures are worth little" if busy else said


def _figure(result: Result, value: float | None) -> str:
    if value is None:
        return ""
    unit = "" if result.unit in ("statements", "tasks", "rows") else f" {result.unit}"
    return f"{value:.{_DIGITS[result.unit]}f}{unit}"


def _bounds(result: Result) -> str:
    limit = [] if result.limit is None else [f"≤ {result.limit:g}"]
    least = [] if result.least is None else [f"≥ {result.least:g}"]
    return " ".join(limit + least)


def _verdict(result: Result) -> str:
    if result.note:
        return f"[yellow]{result.note}"
    if not result.bounded:
        return ""
    return "[bold red]over" if result.over else "[green]ok"
