"""`majlis usage`: what agents have used and cost, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from majlis.cli.command import AsJson, over_http
from majlis.cli.lookup import find_space
from majlis.cli.terminal import note, print_json, print_table

if TYPE_CHECKING:
    from majlis.client import MajlisClient, shapes

COLUMNS = ("Runs", "Requests", "Input tokens", "Cached", "Output tokens", "Cost")
Date = "YYYY-MM-DD"
By = Literal["agent", "space", "person", "day", "model"]


@over_http
async def usage(
    client: MajlisClient,
    by: Annotated[By, typer.Option(help="Sum by agent, space, person, day or model.")] = "agent",
    since: Annotated[str | None, typer.Option("--from", metavar=Date, help="First day. [default: 30 days ago]")] = None,
    until: Annotated[str | None, typer.Option("--to", metavar=Date, help="Last day. [default: today]")] = None,
    space: Annotated[str | None, typer.Option(metavar="SPACE", help="Only runs triggered in this space.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what agents have used and what it cost, in USD."""
    space_id = (await find_space(client, space))["id"] if space else None
    report = await client.report_usage(by, since, until, space_id)
    if as_json:
        print_json(report)
        return
    rows = report["rows"]
    total = [("Total", *_cells(rows))] if len(rows) > 1 else []
    print_table((by.capitalize(), *COLUMNS), [(row["name"], *_cells([row])) for row in rows] + total, "No runs found.")
    unpriced = sum(row["unpricedRuns"] for row in rows)
    if unpriced:
        note(f"{unpriced:,} runs used models without a known price. Set model_prices to include them.")


def _cells(rows: list[shapes.UsageRowJson]) -> tuple[str, ...]:
    counts = (
        sum(row["runs"] for row in rows),
        sum(row["requests"] for row in rows),
        sum(row["inputTokens"] for row in rows),
        sum(row["cachedTokens"] for row in rows),
        sum(row["outputTokens"] for row in rows),
    )
    costs = [row["cost"] for row in rows if row["cost"] is not None]
    return (*(f"{count:,}" for count in counts), money(sum(costs)) if costs else "–")


def money(usd: float) -> str:
    return f"${usd:,.4f}" if usd < 1 else f"${usd:,.2f}"
