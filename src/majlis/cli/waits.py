"""`majlis waits`: the open questions of agents and programs, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.command import AsJson, over_http
from majlis.cli.lookup import find_space
from majlis.cli.terminal import local_time, print_list, safe_line, shorten

if TYPE_CHECKING:
    from majlis.client import MajlisClient, shapes

COLUMNS = ("Asker", "Question", "Waits for", "Answers", "Until", "Message")
_PREVIEW = 60


@over_http
async def waits(
    client: MajlisClient,
    for_me: Annotated[bool, typer.Option("--for-me", help="Only questions that you can answer.")] = False,
    space: Annotated[str | None, typer.Option(metavar="SPACE", help="Only questions in this space.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the open questions of agents and programs, oldest first."""
    space_id = (await find_space(client, space))["id"] if space else None
    found = (await client.list_waits(for_me, space_id))["waits"]
    print_list(found, as_json, COLUMNS, map(_row, found), "No open questions.")


def _row(wait: shapes.OpenWaitJson) -> tuple[str, ...]:
    return (
        safe_line(wait.get("agentName") or wait.get("askerName") or ""),
        shorten(wait["question"], _PREVIEW),
        safe_line(", ".join(wait["fromNames"]) or "any member"),
        f"{len(wait['answered'])} of {wait['need']}",
        local_time(wait["expiresAt"]),
        wait["messageId"],
    )
