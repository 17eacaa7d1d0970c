"""PostgreSQL's own programs copy its database."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import sqlalchemy as sa

from majlis.errors import ConfigurationError, MajlisError
from majlis.store.open import parse_database_url, shown

_OPTIONS = ("--no-owner", "--no-acl")


async def dump(url: str, target: Path) -> None:
    advice = (
        "Install PostgreSQL's client programs, of the version of the server or newer. Or back up the database with "
        "your own tools, for example: "
        f"pg_dump --format=custom {' '.join(_OPTIONS)} --file=database.dump {shown(url)!r}, "
        "and then everything else with: majlis backup --without-database"
    )
    options = ("--format=custom", *_OPTIONS, f"--file={target}")
    await _run("pg_dump", url, advice, *options, "--dbname")


async def load(url: str, dumped: Path) -> None:
    """Restores in one transaction, so an interruption changes nothing."""
    advice = "Install PostgreSQL's client programs, of the version of the server or newer, and restore again."
    options = ("--exit-on-error", "--single-transaction", *_OPTIONS)
    await _run("pg_restore", url, advice, *options, str(dumped), "--dbname")


async def _run(program: str, url: str, advice: str, *arguments: str) -> None:
    found = shutil.which(program)
    if found is None:
        raise ConfigurationError(f"{program} was not found. {advice}")
    place, password = _without_password(url)
    environment = os.environ | ({"PGPASSWORD": password} if password else {})
    process = await asyncio.create_subprocess_exec(
        found, *arguments, place, env=environment, stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    try:
        _, said = await process.communicate()
    except BaseException:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        lines = [line.strip().removeprefix(f"{program}: ") for line in said.decode(errors="replace").splitlines()] or [
            ""
        ]
        more = f". {advice}" if "version mismatch" in lines[0] else ""
        raise MajlisError("database_failed", f"{program} failed: {'; '.join(lines[:2])}{more}")


def _without_password(url: str) -> tuple[str, str]:
    """Other users can see the arguments of a program."""
    parsed = parse_database_url(url)
    place = sa.URL.create(
        "postgresql", parsed.username, None, parsed.host, parsed.port, parsed.database, dict(parsed.query)
    )
    return place.render_as_string(hide_password=False), str(parsed.password or "")
