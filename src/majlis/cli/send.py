"""`majlis send`: posts a message."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.command import AsJson, Space, over_http
from majlis.cli.lookup import find_space
from majlis.cli.terminal import print_result
from majlis.errors import Invalid

if TYPE_CHECKING:
    from majlis.client import MajlisClient


@over_http
async def send(
    client: MajlisClient,
    space: Space,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Text of the message, or - to read it from stdin.")],
    client_id: Annotated[
        str | None, typer.Option(help="ID that you choose; a message with the same id is posted only once.")
    ] = None,
    reply_to: Annotated[str | None, typer.Option(help="ID of the message to reply to.")] = None,
    as_json: AsJson = False,
) -> None:
    """Post a message in a space."""
    content = _from_stdin() if text == "-" else text
    found = await find_space(client, space)
    message = await client.post(found["id"], content, client_id, reply_to)
    print_result(message, as_json, f"Sent {message['id']} to {found['name']}.")


def _from_stdin() -> str:
    """Without the line end of the last line."""
    try:
        return sys.stdin.buffer.read().decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise Invalid("invalid_text", "The input on stdin is not UTF-8 text.") from None
