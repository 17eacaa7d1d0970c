"""`majlis send`: say something in a space."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.command import AsJson
from majlis.cli.printing import print_json, print_line
from majlis.cli.running import over_http
from majlis.cli.terminal import safe_line
from majlis.errors import Invalid

if TYPE_CHECKING:
    from majlis.client import MajlisClient


@over_http
async def send(
    client: MajlisClient,
    space: Annotated[str, typer.Argument(metavar="SPACE", help="The space's name or id.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to say; - reads it from stdin.")],
    client_id: Annotated[
        str | None,
        typer.Option(help="Repeating a command with the same id says it once; one is made if none is given."),
    ] = None,
    reply_to: Annotated[str | None, typer.Option(help="The id of the message this answers.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say something in a space."""
    from majlis.cli.lookup import find_space

    said = _from_stdin() if text == "-" else text
    found = await find_space(client, space)
    message = await client.post(found["id"], said, client_id, reply_to)
    if as_json:
        print_json(message)
    else:
        print_line(f"Sent {message['id']} to {safe_line(found['name'])}.")


def _from_stdin() -> str:
    """Without the line end that every text file and `echo` has at its end."""
    try:
        return sys.stdin.buffer.read().decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise Invalid("invalid_text", "What came on stdin is not UTF-8 text.") from None
