"""`majlis export`: a space or the whole gateway as JSON Lines, read from the database, also while a server runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.command import AsJson, ConfigFile, DatabaseUrl, DataDir, Where
from majlis.cli.running import run_async
from majlis.cli.terminal import safe_line
from majlis.errors import ConfigurationError, MajlisError

if TYPE_CHECKING:
    from majlis.settings import Settings
    from majlis.store.transactions import Database
    from majlis.transfer.export import Exported


def export(
    space: Annotated[str | None, typer.Option(help="Id or name of one space; without it the whole gateway.")] = None,
    output: Annotated[str, typer.Option("--output", "-o", help="File to write, or - for stdout.")] = "-",
    as_json: AsJson = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    config: ConfigFile = None,
) -> None:
    """Write a space or the whole gateway as JSON Lines, with members, cursors and pending work; no secrets."""
    settings = Where(data_dir, database_url, config).settings()
    exported = run_async(_export(settings, space, output))
    _print(exported, as_json, to_stderr=output == "-")
    if exported.left_out:
        raise typer.Exit(1)


async def _export(settings: Settings, space: str | None, target: str) -> Exported:
    from majlis.transfer.export import export
    from majlis.transfer.output import Output
    from majlis.transfer.progress import Progress

    stopped = threading.Event()
    db = _open_existing(settings)
    try:
        with Progress("Exporting messages") as progress, Output(target) as file:

            def write(data: bytes) -> None:
                # On SQLite this runs in another thread, which would otherwise go on after Ctrl-C.
                if stopped.is_set():
                    raise asyncio.CancelledError
                file.write(data)

            with _explained(settings):
                return await db.snapshot(export, space, write, progress)
    finally:
        stopped.set()
        await db.close()


def _open_existing(settings: Settings) -> Database:
    from majlis.cli.local import is_missing
    from majlis.store.open import open_database, shown

    if is_missing(settings):
        there = shown(settings.database)
        raise ConfigurationError(f"There is no database {there}. Check --data-dir or --database-url.")
    return open_database(settings.database)


@contextmanager
def _explained(settings: Settings) -> Iterator[None]:
    import sqlalchemy as sa

    from majlis.cli.local import reason
    from majlis.store.open import shown

    try:
        yield
    except BrokenPipeError:
        raise
    except (sa.exc.DBAPIError, OSError) as error:
        message = f"The database {shown(settings.database)} cannot be read: {reason(error)}."
        raise MajlisError("database_failed", message) from None


def _print(exported: Exported, as_json: bool, to_stderr: bool) -> None:
    import orjson

    if as_json:
        said = {"scope": exported.scope.name, "counts": dict(exported.counts), "leftOut": exported.left_out}
        typer.echo(orjson.dumps(said).decode(), err=to_stderr)
        return
    for name, count in exported.counts.items():
        typer.echo(f"{name:<10} {count:,}", err=True)
    for row in exported.left_out:
        typer.echo(safe_line(f"left out: {row['type']} {row['key']} is damaged: {row['reason']}"), err=True)
