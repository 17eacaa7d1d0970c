"""`majlis runs`: what agents are doing and have done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from majlis.cli.command import AsJson
from majlis.cli.printing import print_json, print_table, shown_time
from majlis.cli.running import over_http

if TYPE_CHECKING:
    from collections.abc import Sequence

    from majlis.client import MajlisClient
    from majlis.client.shapes import RunJson, TriggerJson

_PAGE = 200
_PREVIEW = 60
Status = Literal["queued", "running", "waiting_reply", "waiting_tool", "completed", "failed", "canceled"]


@over_http
async def runs(
    client: MajlisClient,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="Only of this agent.")] = None,
    space: Annotated[str | None, typer.Option(metavar="SPACE", help="Only those triggered in this space.")] = None,
    status: Annotated[Status | None, typer.Option(help="Only those in this state.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List what agents are doing and have done, newest first."""
    from majlis.cli.lookup import find_entity, find_space

    agent_id = (await find_entity(client, agent))["id"] if agent else None
    space_id = (await find_space(client, space))["id"] if space else None
    found: list[RunJson] = []
    while True:
        before = found[-1]["id"] if found else None
        page = await client.list_runs(agent_id, space_id, status, min(_PAGE, limit - len(found)), before)
        found += page["runs"]
        if not page["hasMore"] or len(found) >= limit:
            break
    if as_json:
        print_json(found)
    else:
        print_runs(found)


def print_runs(found: Sequence[RunJson]) -> None:
    rows = [
        (r["id"], r["agentName"], _state(r), shown_trigger(r["trigger"]), _tokens(r), shown_time(r["createdAt"]))
        for r in found
    ]
    print_table(("Run", "Agent", "Status", "Trigger", "Tokens", "Since"), rows, "There are no such runs.")


def shown_trigger(trigger: TriggerJson) -> str:
    match trigger["type"]:
        case "space_message":
            text = f"{trigger.get('senderName', '?')}: {trigger.get('text', '')}"
        case "plan":
            text = f"plan {trigger.get('planName', '?')}"
        case "service":
            text = f"service {trigger.get('serviceName', '?')}"
        case other:
            text = other.replace("_", " ")
    more = len(trigger.get("events", ())) - 1
    shown = text if len(text) <= _PREVIEW else f"{text[: _PREVIEW - 1]}…"
    return f"{shown} (and {more} more)" if more > 0 else shown


def _state(run: RunJson) -> str:
    return f"{run['status']} ({run['reason']})" if run["reason"] else run["status"]


def _tokens(run: RunJson) -> str:
    return f"{run['usage']['inputTokens'] + run['usage']['outputTokens']:,}"
