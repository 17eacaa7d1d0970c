"""`majlis file`: the files of a space, and their content."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.command import AsJson, Space, over_http
from majlis.cli.lookup import open_space
from majlis.cli.terminal import local_time, note, print_json, print_list
from majlis.errors import ConfigurationError, Invalid

if TYPE_CHECKING:
    from majlis.client import MajlisClient

app = typer.Typer(rich_markup_mode=None, help="List and download the files of spaces.")


@app.command("list")
@over_http
async def list_(
    client: MajlisClient,
    space: Space,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=200, help="Maximum number of files.")] = 50,
    before: Annotated[
        str | None, typer.Option(help="Only files before this ID, the last one of the previous page.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the files that messages of a space carry, newest first."""
    from majlis.files.names import size_text

    found = await open_space(client, space)
    page = await client.list_files(found["id"], limit, before)
    rows = [
        (each["id"], each["name"], size_text(each["bytes"]), each["sender"]["name"], local_time(each["createdAt"]))
        for each in page["files"]
    ]
    print_list(page, as_json, ("Id", "Name", "Size", "Sent by", "Uploaded"), rows, "No files.")


@app.command()
@over_http
async def get(
    client: MajlisClient,
    file_id: Annotated[str, typer.Argument(metavar="ID", help="ID of the file.")],
    output: Annotated[str, typer.Option("--output", "-o", help="File to write, or - for stdout.")] = "-",
    as_json: AsJson = False,
) -> None:
    """Download a file. --json reports what was written and needs --output."""
    if output == "-" and as_json:
        raise ConfigurationError("--json needs a file to write: majlis file get ID --output FILE --json")
    if output == "-" and sys.stdout.isatty():
        raise ConfigurationError("A file may contain anything. Name a file to write with --output, or redirect stdout.")
    content = await client.download_file(file_id)
    if output == "-":
        sys.stdout.buffer.write(content)
        return
    _write(Path(output), content)
    if as_json:
        print_json({"id": file_id, "file": output, "bytes": len(content)})
    else:
        note(f"Wrote {len(content)} bytes to {output}.")


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise Invalid("unwritable_file", f"Cannot write {path}: {error.strerror}.") from None
