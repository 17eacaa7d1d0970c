"""`majlis backup` and `majlis restore`, directly on the data, also while a server uses it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from majlis.cli.command import AsJson, Where, on_database
from majlis.cli.terminal import note, print_json, safe_line
from majlis.errors import ConfigurationError, MajlisError


@on_database
async def backup(
    where: Where,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="File to write, or - for stdout.  [default: majlis-backup-TIME.tar]"),
    ] = None,
    without_database: Annotated[
        bool, typer.Option("--without-database", help="Only the files and the server key.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Back up the whole gateway to one file, while it runs.

    Contains everything: the database with its tokens and secrets, the uploaded files and the server key. Keep it safe.
    """
    import sqlalchemy as sa

    from majlis import clock
    from majlis.backup.make import make_backup
    from majlis.cli.local import is_missing, reason
    from majlis.files.names import size_text
    from majlis.store.open import open_database, shown
    from majlis.transfer.report import Progress

    settings = where.settings()
    database = shown(settings.database)
    if is_missing(settings):
        raise ConfigurationError(f"There is no database {database}. Check --data-dir or --database-url.")
    stamp = clock.iso(clock.now())[:19].replace("-", "").replace(":", "").replace("T", "-")
    target = output or f"majlis-backup-{stamp}.tar"
    db = open_database(settings.database)
    try:
        with Progress("Backing up", bytes=True) as progress:
            made = await make_backup(db, settings, target, progress, where.config, without_database)
    except BrokenPipeError:
        raise
    except (sa.exc.DBAPIError, OSError) as error:
        raise MajlisError("backup_failed", f"The backup failed: {reason(error)}. Nothing was written.") from None
    finally:
        await db.close()
    if as_json:
        summary = {"file": target, "bytes": made.bytes, "files": made.files, "missing": made.missing}
        typer.echo(json.dumps(summary), err=target == "-")
    else:
        count = f"{made.files} uploaded file{'' if made.files == 1 else 's'}"
        typer.echo(safe_line(f"Wrote {target} ({size_text(made.bytes)}, with {count})."), err=True)
    if not made.has_key:
        note("The server key is not in the backup. Keep MAJLIS_SECRET_KEY with it.")
    for name in made.missing:
        note(f"Missing in the file store: {name}")
    if made.missing:
        raise typer.Exit(1)


@on_database
async def restore(
    where: Where,
    archive: Annotated[Path, typer.Argument(metavar="ARCHIVE", help="File that `majlis backup` wrote.")],
    as_json: AsJson = False,
) -> None:
    """Restore a backup into an empty data directory.

    Checks the whole backup before it changes anything. Restore only backups that you trust.
    """
    import sqlalchemy as sa

    from majlis.backup.restore import restore_backup
    from majlis.cli.local import reason
    from majlis.transfer.report import Progress

    settings = where.settings()
    try:
        with Progress("Restoring", bytes=True) as progress:
            restored = await restore_backup(archive, settings, progress)
    except (sa.exc.DBAPIError, OSError) as error:
        raise MajlisError("restore_failed", f"The database failed: {reason(error)}. Nothing was restored.") from None
    manifest = restored.manifest
    if as_json:
        print_json({"madeAt": manifest["madeAt"], "files": restored.files, "missing": restored.missing})
    else:
        typer.echo(safe_line(f"Restored the backup of {manifest['madeAt']} to {settings.data_dir}."), err=True)
    if restored.missing:
        note(f"The backup does not have {restored.missing} of the uploaded files.")
    if restored.settings_file is not None:
        note(
            f"The settings from that time are in {restored.settings_file}. Start the server with --config to use them."
        )
    if not manifest["database"]:
        note("The backup has no database. Restore it with your own tools before you start the server.")
    if variables := ", ".join(map(str, manifest.get("variables") or ())):
        note(f"The gateway was backed up with these variables set: {variables}.")
