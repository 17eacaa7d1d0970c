"""`majlis agent cycles`: what a consciousness has lived through, by its own closing words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.command import AsJson
from majlis.cli.printing import print_json, print_table, shown_time
from majlis.cli.running import over_http

if TYPE_CHECKING:
    from majlis.client import MajlisClient


@over_http
async def cycles(
    client: MajlisClient,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The agent's name or id.")],
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many, the latest first.")] = 20,
    before: Annotated[int | None, typer.Option(min=1, help="Only those before the cycle of this number.")] = None,
    as_json: AsJson = False,
) -> None:
    """List an agent's cycles, the latest first; --json has everything said and done in them."""
    from majlis.cli.agent.find import find_agent

    agent = await find_agent(client, name)
    found = await client.list_cycles(agent["id"], limit, before)
    if as_json:
        print_json(found)
        return
    rows = [
        (str(each["n"]), shown_time(each["createdAt"]), each["runId"], str(each["tokens"]), each["summary"] or "–")
        for each in found["cycles"]
    ]
    print_table(("Cycle", "Ended", "Run", "Tokens", "In its own words"), rows, "It has lived no cycle yet.")
