"""`majlis export` and `majlis import`, directly on the database, even while a server uses it."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from majlis.cli.command import AsJson, Where, on_database
from majlis.cli.terminal import print_json, safe_line
from majlis.errors import ConfigurationError, MajlisError

if TYPE_CHECKING:
    from majlis.settings import Settings
    from majlis.store.transactions import Tx
    from majlis.transfer.export import Exported


@on_database
async def export(
    where: Where,
    space: Annotated[str | None, typer.Option(help="Export only this space, by name or id.")] = None,
    output: Annotated[str, typer.Option("--output", "-o", help="File to write, or - for stdout.")] = "-",
    as_json: AsJson = False,
) -> None:
    """Export a space or the whole gateway as JSON Lines.

    Includes members, cursors and pending work, but no tokens and no stored secrets.
    """
    import orjson

    exported = await _export(where.settings(), space, output)
    if as_json:
        summary = {"scope": exported.scope.name, "counts": dict(exported.counts), "leftOut": exported.left_out}
        typer.echo(orjson.dumps(summary).decode(), err=output == "-")
    else:
        for name, count in exported.counts.items():
            typer.echo(f"{name:<10} {count:,}", err=True)
        for row in exported.left_out:
            typer.echo(safe_line(f"Left out: {row['type']} {row['key']} is damaged ({row['reason']})."), err=True)
    if exported.left_out:
        raise typer.Exit(1)


@on_database
async def import_(
    where: Where,
    file: Annotated[str, typer.Argument(metavar="FILE", help="File to import, or - for stdin.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Report the result, but change nothing.")] = False,
    rejected: Annotated[
        Path | None, typer.Option(help="File for rejected lines.  [default: FILE.rejected.jsonl]")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Import a file that `majlis export` wrote.

    Invalid lines are rejected, with the reason; the rest is imported. Importing the file again is safe.
    """
    import sqlalchemy as sa

    from majlis.cli.local import reason
    from majlis.files.bucket import store_at
    from majlis.foundation import open_store
    from majlis.transfer.file import Rejected, Source
    from majlis.transfer.import_ import import_file
    from majlis.transfer.report import Progress

    settings = where.settings()
    path = rejected or Path(f"{'import' if file == '-' else file}.rejected.jsonl")
    with (
        _opened(file, path) as (opened, size),
        Progress("Importing", bytes=True) as progress,
        Rejected(path) as refused,
    ):
        progress.total = size
        source = Source(opened, "The input" if file == "-" else file, progress)
        db = await open_store(settings)
        # The collector need not look at what is loaded again with every few hundred lines.
        gc.freeze()
        try:
            summary = await import_file(
                db, source, refused, settings.owner_name, store_at(settings.file_store, settings.files_dir), dry_run
            )
        except (sa.exc.DBAPIError, ConnectionError) as error:
            message = f"The database failed: {reason(error)}. Imported rows are kept; import the file again."
            raise MajlisError("database_failed", message) from None
        finally:
            await db.close()
    if as_json:
        print_json(summary.json())
    else:
        for line in summary.lines():
            typer.echo(safe_line(line), err=True)
    if not summary.clean:
        raise typer.Exit(1)


async def _export(settings: Settings, space: str | None, target: str) -> Exported:
    import sqlalchemy as sa

    from majlis.cli.local import is_missing, reason
    from majlis.files.bucket import store_at
    from majlis.store.open import open_database, shown
    from majlis.transfer.export import export
    from majlis.transfer.file import opened_output
    from majlis.transfer.report import Progress

    database = shown(settings.database)
    if is_missing(settings):
        raise ConfigurationError(f"There is no database {database}. Check --data-dir or --database-url.")
    stopped = threading.Event()
    db = open_database(settings.database)
    try:
        with Progress("Exporting messages") as progress, opened_output(target) as output:

            def write(data: bytes) -> None:
                # On SQLite this runs in another thread, which would continue after Ctrl-C.
                if stopped.is_set():
                    raise asyncio.CancelledError
                output(data)

            exported = await db.snapshot(
                export, space, write, progress, store_at(settings.file_store, settings.files_dir)
            )
        await db.write(_record_export, exported.scope.name)
        return exported
    except BrokenPipeError:
        raise
    except (sa.exc.DBAPIError, OSError) as error:
        raise MajlisError("database_failed", f"Cannot read the database {database}: {reason(error)}.") from None
    finally:
        stopped.set()
        await db.close()


@contextmanager
def _opened(name: str, rejected: Path) -> Iterator[tuple[BinaryIO, int | None]]:
    if name == "-":
        yield sys.stdin.buffer, None
        return
    path = Path(name)
    if path.resolve() == rejected.resolve():
        raise ConfigurationError("--rejected is the file to import. Choose another file.")
    try:
        file = path.open("rb")
    except OSError as error:
        raise ConfigurationError(f"Cannot read {name}: {error.strerror}.") from None
    with file:
        yield file, path.stat().st_size


def _record_export(tx: Tx, scope: str) -> None:
    from majlis.audit.record import record
    from majlis.entities.caller import SYSTEM
    from majlis.foundation import find_owner, owner_caller

    owner_id = find_owner(tx)
    record(tx, owner_caller(tx, owner_id) if owner_id else SYSTEM, "export.made", scope)
