"""Budgets: what agents may cost."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Response
from pydantic import Field

from majlis import clock
from majlis.api.auth import TheEntry, TheGateway
from majlis.api.bodies import Body, IdText, reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.runs.budget.budgets import BudgetJson, BudgetsJson, list_budgets, replace_budgets
from majlis.runs.budget.check import BudgetScope

router = new_router("budgets")


class Budget(Body):
    """Per day, except for a cause. Without an `id`: for each space, agent, person or cause without one of its own."""

    scope: BudgetScope
    id: IdText | None = None
    usd: Annotated[float, Field(ge=0, le=1_000_000_000, allow_inf_nan=False)] | None = None
    tokens: Annotated[int, Field(ge=0, le=2**53)] | None = None
    spent: float | None = None
    """Ignored, so that a list that was read can be sent back."""
    spent_tokens: int | None = None
    """Ignored."""


class NewBudgets(Body):
    budgets: Annotated[list[Budget], Field(max_length=1000)]


@router.get("/api/budgets", response_model=BudgetsJson, responses=refusals(403))
async def list_all(gateway: TheGateway, entry: TheEntry) -> Response:
    """The budgets and what is spent of them. For admins."""
    settings = gateway.settings
    day = clock.day_of(clock.now(), settings.timezone)
    return reply(await entry.read(list_budgets, day, settings.budget_usd_per_day))


@router.put("/api/budgets", response_model=BudgetsJson, responses=refusals(403))
async def replace(gateway: TheGateway, entry: TheEntry, body: NewBudgets) -> Response:
    """Replace the list. Runs that stopped because a budget was spent try again. For admins."""
    settings = gateway.settings
    wanted = [each.model_dump(exclude_none=True, include={"scope", "id", "usd", "tokens"}) for each in body.budgets]
    asked = cast("list[BudgetJson]", wanted)
    return reply(await entry.write(replace_budgets, asked, settings.timezone, settings.budget_usd_per_day))
