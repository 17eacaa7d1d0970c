"""Commands for messages that were posted: `majlis edit`, `delete`, `react`, `pin`, `unpin` and `pins`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.command import AsJson, over_http
from majlis.cli.lookup import find_space
from majlis.cli.terminal import print_list, print_result

if TYPE_CHECKING:
    from majlis.client import MajlisClient

_Message = Annotated[str, typer.Argument(metavar="MESSAGE", help="ID of the message (msg_…).")]
_Text = Annotated[str, typer.Argument(metavar="TEXT", help="The new text.")]
_Space = Annotated[str, typer.Argument(metavar="SPACE", help="Name or id of the space.")]
_Emoji = Annotated[str, typer.Argument(metavar="EMOJI", help="One emoji, such as 👍.")]
_Remove = Annotated[bool, typer.Option("--remove", help="Remove your reaction.")]


@over_http
async def edit(client: MajlisClient, message: _Message, text: _Text, as_json: AsJson = False) -> None:
    """Change the text of a message that you sent. It wakes no agent."""
    print_result(await client.edit_message(message, text), as_json, "Edited.")


@over_http
async def delete(client: MajlisClient, message: _Message, as_json: AsJson = False) -> None:
    """Delete a message that you sent, or any message of a space that you are an admin of."""
    print_result(await client.delete_message(message), as_json, "Deleted.")


@over_http
async def react(
    client: MajlisClient, message: _Message, emoji: _Emoji, remove: _Remove = False, as_json: AsJson = False
) -> None:
    """React to a message with an emoji."""
    changed = await (client.unreact(message, emoji) if remove else client.react(message, emoji))
    print_result(changed, as_json, "Removed." if remove else "Reacted.")


@over_http
async def pin(client: MajlisClient, message: _Message, as_json: AsJson = False) -> None:
    """Pin a message to its space."""
    print_result(await client.pin(message), as_json, "Pinned.")


@over_http
async def unpin(client: MajlisClient, message: _Message, as_json: AsJson = False) -> None:
    """Unpin a message."""
    print_result(await client.unpin(message), as_json, "Unpinned.")


@over_http
async def pins(client: MajlisClient, space: _Space, as_json: AsJson = False) -> None:
    """List the pinned messages of a space, newest pin first."""
    listed = (await client.list_pins((await find_space(client, space))["id"]))["pins"]
    rows = [(each["id"], each["sender"]["name"], each["text"]) for each in listed]
    print_list(listed, as_json, ("id", "from", "text"), rows, "No pinned messages.")
