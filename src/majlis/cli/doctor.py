"""`majlis doctor`: looks at everything Majlis stands on, and says what to do about whatever is not well."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.command import AsJson, ConfigFile, DatabaseUrl, DataDir
from majlis.cli.printing import print_json, print_line
from majlis.cli.running import run_async
from majlis.cli.terminal import safe_line

if TYPE_CHECKING:
    from majlis.cli.checks.finding import Finding
    from majlis.settings import Settings

_COLOURS = {"ok": "green", "warning": "yellow", "problem": "red"}


def doctor(
    host: Annotated[str | None, typer.Option(help="Address that `majlis serve` would listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port that it would listen on.")] = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    bus_url: Annotated[str | None, typer.Option(help="nats://host:4222, for several processes.")] = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Check what Majlis stands on and say what to do about it.

    Looks at configuration, database, bus, disk, clock and port. Changes nothing. Exits with 1 if there is a problem.
    """
    flags = {"host": host, "port": port, "data_dir": data_dir, "database_url": database_url, "bus_url": bus_url}
    findings = run_async(_examine_all(flags, config, show=not as_json))
    counts = {level: sum(1 for found in findings if found.level == level) for level in _COLOURS}
    if as_json:
        print_json({"problems": counts["problem"], "warnings": counts["warning"], "findings": [*map(asdict, findings)]})
    else:
        print_line(f"\n{_count(counts['problem'], 'problem')}, {_count(counts['warning'], 'warning')}.")
    raise typer.Exit(1 if counts["problem"] else 0)


async def _examine_all(flags: Mapping[str, object], config: Path | None, show: bool) -> list[Finding]:
    found: list[Finding] = []
    async for finding in _examine(flags, config):
        found.append(finding)
        if show:
            _show(finding)
    return found


async def _examine(flags: Mapping[str, object], config: Path | None) -> AsyncIterator[Finding]:
    from majlis.cli.checks import bus, disk, port
    from majlis.cli.checks import environment as configuration
    from majlis.cli.checks.finding import problem
    from majlis.errors import ConfigurationError
    from majlis.settings import load_settings

    try:
        settings = load_settings(flags, config_file=config)
    except ConfigurationError as error:
        yield problem("configuration", error.message, "Correct it and look again; docs/configuration.md has all keys.")
        return
    for finding in configuration.check(settings, config, os.environ):
        yield finding
    for finding in disk.check(settings):
        yield finding
    async for finding in _examine_database(settings):
        yield finding
    yield await bus.check(settings)
    yield await port.check(settings)


async def _examine_database(settings: Settings) -> AsyncIterator[Finding]:
    from majlis.cli.checks import clock, database
    from majlis.cli.checks.finding import warning
    from majlis.cli.local import is_missing, sqlite_file
    from majlis.store.open import open_database

    if is_missing(settings):
        advice = "`majlis serve` makes it at its first start. If there should be one, check --data-dir."
        yield warning("database", f"There is no {sqlite_file(settings)} yet.", advice)
        return
    db = open_database(settings.database)
    try:
        reached = await database.reach(db, settings)
        yield reached
        if reached.level == "ok":
            async for finding in database.check(db, settings):
                yield finding
            async for finding in clock.check(db):
                yield finding
    finally:
        await db.close()


def _show(finding: Finding) -> None:
    level = typer.style(f"{finding.level:<8}", fg=_COLOURS[finding.level], bold=finding.level != "ok")
    print_line(f"{level} {finding.area:<14} {safe_line(finding.message)}")
    if finding.advice:
        print_line(f"{'':<23} → {safe_line(finding.advice)}")


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
