"""`majlis send`: posts a message."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.command import AsJson, Space, over_http
from majlis.cli.lookup import open_space
from majlis.cli.terminal import print_result
from majlis.errors import Invalid

if TYPE_CHECKING:
    from majlis.client import MajlisClient


def _needed(ctx: typer.Context, text: str | None) -> str | None:
    if text is None and not ctx.params.get("file"):
        ctx.fail("Missing argument 'TEXT'.")
    return text


@over_http
async def send(
    client: MajlisClient,
    space: Space,
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="TEXT", help="Text, or - to read it from stdin. Optional with --file.", callback=_needed
        ),
    ] = None,
    client_id: Annotated[
        str | None, typer.Option(help="ID that you choose; a message with the same id is posted only once.")
    ] = None,
    file: Annotated[
        list[Path] | None, typer.Option("--file", "-f", help="File to send with it; can be repeated.", is_eager=True)
    ] = None,
    reply_to: Annotated[str | None, typer.Option(help="ID of the message to reply to.")] = None,
    as_json: AsJson = False,
) -> None:
    """Post a message in a space.

    @NAME posts in your direct conversation with a person or an agent.
    """
    contents = [(path.name, _content(path)) for path in file or ()]
    content = _from_stdin() if text == "-" else text or ""
    found = await open_space(client, space)
    uploaded = [await client.upload_file(found["id"], name, each) for name, each in contents]
    message = await client.post(found["id"], content, client_id, reply_to, files=[each["id"] for each in uploaded])
    print_result(message, as_json, f"Sent {message['id']} to {found['name']}.")


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Invalid("unreadable_file", f"Cannot read {path}: {error.strerror}.") from None


def _from_stdin() -> str:
    """The text without the line end of its last line."""
    try:
        return sys.stdin.buffer.read().decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise Invalid("invalid_text", "The input on stdin is not UTF-8 text.") from None
