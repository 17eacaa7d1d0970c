"""`majlis import`: what `majlis export` wrote, into the database, also while a server runs on it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from majlis.cli.command import AsJson, ConfigFile, DatabaseUrl, DataDir, Where
from majlis.cli.printing import print_json
from majlis.cli.running import run_async
from majlis.cli.terminal import safe_line
from majlis.errors import ConfigurationError, MajlisError

if TYPE_CHECKING:
    from majlis.settings import Settings
    from majlis.transfer.report import Summary


def import_(
    file: Annotated[str, typer.Argument(help="A file written by majlis export, or - for stdin.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Try everything, then undo it, and report.")] = False,
    rejected: Annotated[
        Path | None, typer.Option(help="Where lines go that are set aside; FILE.rejected.jsonl if not given.")
    ] = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    config: ConfigFile = None,
) -> None:
    """Import an export. Bad lines are set aside with the reason; repeating an import changes nothing."""
    settings = Where(data_dir, database_url, config).settings()
    aside = rejected or Path(f"{'import' if file == '-' else file}.rejected.jsonl")
    if file != "-" and aside.resolve() == Path(file).resolve():
        raise ConfigurationError("--rejected names the file that is to be imported. Choose another.")
    summary = run_async(_import(settings, file, aside, dry_run))
    if as_json:
        print_json(summary.json())
    else:
        for line in summary.lines():
            typer.echo(safe_line(line), err=True)
    if not summary.clean:
        raise typer.Exit(1)


async def _import(settings: Settings, name: str, aside: Path, dry_run: bool) -> Summary:
    import sqlalchemy as sa

    from majlis.cli.local import reason
    from majlis.foundation import open_store
    from majlis.transfer.import_ import import_file
    from majlis.transfer.progress import Progress
    from majlis.transfer.file import Source
    from majlis.transfer.rejected import Rejected

    with _opened(name) as (file, size), Progress("Importing", bytes=True) as progress, Rejected(aside) as rejected:
        progress.begin(size)
        source = Source(file, "The input" if name == "-" else name, progress)
        db = await open_store(settings)
        try:
            return await import_file(db, source, rejected, settings.owner_name, dry_run)
        except (sa.exc.DBAPIError, ConnectionError) as error:
            message = f"The database failed: {reason(error)}. What was imported stays; repeat the import."
            raise MajlisError("database_failed", message) from None
        finally:
            await db.close()


@contextmanager
def _opened(name: str) -> Iterator[tuple[BinaryIO, int | None]]:
    if name == "-":
        yield sys.stdin.buffer, None
        return
    path = Path(name)
    try:
        file = path.open("rb")
    except OSError as error:
        raise ConfigurationError(f"{name} cannot be read: {error.strerror}.") from None
    with file:
        yield file, path.stat().st_size
