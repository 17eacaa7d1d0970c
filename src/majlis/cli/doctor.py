"""`majlis doctor`: checks the installation and suggests a fix for each problem."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from majlis.cli.command import AsJson, BusUrl, ConfigFile, DatabaseUrl, DataDir, run_async
from majlis.cli.terminal import print_json, print_line, safe_line

Area = Literal["configuration", "database", "bus", "disk", "clock", "models", "port"]
_COLORS = {"ok": "green", "warning": "yellow", "problem": "red"}


@dataclass(frozen=True, slots=True)
class Finding:
    area: Area
    level: Literal["ok", "warning", "problem"]
    message: str
    advice: str | None = None


def ok(area: Area, message: str) -> Finding:
    return Finding(area, "ok", message)


def warning(area: Area, message: str, advice: str) -> Finding:
    return Finding(area, "warning", message, advice)


def problem(area: Area, message: str, advice: str) -> Finding:
    return Finding(area, "problem", message, advice)


def doctor(
    host: Annotated[str | None, typer.Option(help="Address of `majlis serve`.")] = None,
    port: Annotated[int | None, typer.Option(help="Port of `majlis serve`.")] = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    bus_url: BusUrl = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Check the installation and suggest fixes.

    Checks configuration, database, bus, disk, clock, the models of agents, and the port. Changes nothing. Exits with 1
    if there is a problem.
    """
    flags = {"host": host, "port": port, "data_dir": data_dir, "database_url": database_url, "bus_url": bus_url}
    findings = run_async(_check_all(flags, config, show=not as_json))
    counts = {level: sum(1 for found in findings if found.level == level) for level in _COLORS}
    if as_json:
        print_json({"problems": counts["problem"], "warnings": counts["warning"], "findings": [*map(asdict, findings)]})
    else:
        print_line(f"\n{_count(counts['problem'], 'problem')}, {_count(counts['warning'], 'warning')}.")
    raise typer.Exit(1 if counts["problem"] else 0)


async def _check_all(flags: Mapping[str, object], config: Path | None, show: bool) -> list[Finding]:
    found: list[Finding] = []
    async for finding in _checks(flags, config):
        found.append(finding)
        if show:
            level = typer.style(f"{finding.level:<8}", fg=_COLORS[finding.level], bold=finding.level != "ok")
            print_line(f"{level} {finding.area:<14} {safe_line(finding.message)}")
        if show and finding.advice:
            print_line(f"{'':<23} → {safe_line(finding.advice)}")
    return found


async def _checks(flags: Mapping[str, object], config: Path | None) -> AsyncIterator[Finding]:
    from majlis.cli.checks.database import check_database
    from majlis.cli.checks.environment import check_bus, check_configuration, check_disk, check_exposure, check_port
    from majlis.cli.checks.models import check_models
    from majlis.errors import ConfigurationError
    from majlis.settings import load_settings

    try:
        settings = load_settings(flags, config_file=config)
    except ConfigurationError as error:
        yield problem("configuration", error.message, "Fix it and run this again; see docs/configuration.md.")
        return
    for finding in (
        *check_configuration(settings, config, os.environ),
        *check_exposure(settings),
        *check_disk(settings),
    ):
        yield finding
    async for finding in check_database(settings):
        yield finding
    async for finding in check_models(settings):
        yield finding
    yield await check_bus(settings)
    yield await check_port(settings)


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
