"""`majlis budget`: what agents may cost, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from majlis.cli.command import AsJson, over_http
from majlis.cli.lookup import find_entity, find_space
from majlis.cli.terminal import print_list, print_result
from majlis.cli.usage import money

if TYPE_CHECKING:
    from majlis.client import MajlisClient, shapes

app = typer.Typer(rich_markup_mode=None, help="Show and set budgets: what agents may cost.")
COLUMNS = ("Scope", "Of", "Limit", "Spent")
BudgetScope = Literal["gateway", "space", "agent", "person", "cause"]
ScopeArgument = Annotated[BudgetScope, typer.Argument(help="Gateway, space, agent, person or cause.")]
Name = Annotated[
    str | None, typer.Argument(metavar="NAME", help="Name or id. Without it, the budget applies to each one.")
]


@app.command("list")
@over_http
async def list_all(client: MajlisClient, as_json: AsJson = False) -> None:
    """List the budgets and what is spent of them."""
    found = await client.list_budgets()
    rows = [(each["scope"], each.get("id", "each"), _limit(each), _spent(each)) for each in found["budgets"]]
    print_list(found, as_json, COLUMNS, rows, "No budgets.")


@app.command("set")
@over_http
async def set_one(
    client: MajlisClient,
    scope: ScopeArgument,
    name: Name = None,
    usd: Annotated[float | None, typer.Option(min=0, help="Limit in USD per day; for a cause, in total.")] = None,
    tokens: Annotated[int | None, typer.Option(min=0, help="Limit in tokens per day; for a cause, in total.")] = None,
    as_json: AsJson = False,
) -> None:
    """Set a budget. Runs that stopped because it was spent try again."""
    of = await _id(client, scope, name)
    limits: dict[str, Any] = {"usd": usd, "tokens": tokens}
    given = {key: value for key, value in limits.items() if value is not None}
    new: Any = {"scope": scope, **({"id": of} if of else {}), **given}
    others = [each for each in (await client.list_budgets())["budgets"] if not _is(each, scope, of)]
    found = await client.replace_budgets([*others, new])
    print_result(found, as_json, f"Set the budget of {name or scope}.")


@app.command()
@over_http
async def remove(client: MajlisClient, scope: ScopeArgument, name: Name = None, as_json: AsJson = False) -> None:
    """Remove a budget."""
    of = await _id(client, scope, name)
    others = [each for each in (await client.list_budgets())["budgets"] if not _is(each, scope, of)]
    found = await client.replace_budgets(others)
    print_result(found, as_json, f"Removed the budget of {name or scope}.")


async def _id(client: MajlisClient, scope: BudgetScope, name: str | None) -> str | None:
    if name is None or scope == "cause":
        return name
    found = await (find_space(client, name) if scope == "space" else find_entity(client, name))
    return str(found["id"])


def _is(budget: shapes.BudgetJson, scope: BudgetScope, of: str | None) -> bool:
    return budget["scope"] == scope and budget.get("id") == of


def _limit(budget: shapes.BudgetJson) -> str:
    limits = [money(budget["usd"])] if "usd" in budget else []
    return ", ".join([*limits, *([f"{budget['tokens']:,} tokens"] if "tokens" in budget else [])])


def _spent(budget: Any) -> str:
    return money(budget["spent"]) if "usd" in budget else f"{budget['spentTokens']:,} tokens"
