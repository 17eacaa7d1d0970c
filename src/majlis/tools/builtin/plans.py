"""set_plans: the agent wakes itself later, once or regularly (P3)."""

from __future__ import annotations

from majlis.agents import plans
from majlis.runs.calls.context import Acting, ToolResult
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import BuiltIn, Input


class PlanItem(Input):
    name: str
    """A short title on one line."""
    instruction: str
    """What you are to do when the plan fires. Name people and spaces: you start anew then, in no space."""
    run_after: str | None = None
    """Once, this long from now: "45 seconds", "30 minutes", "2 hours", "1 day", "1 week"."""
    scheduled_at: str | None = None
    """Once, at this time, with its zone: "2026-02-18T17:07:00Z"."""
    cron: str | None = None
    """Regularly: minute hour day month weekday, in your time zone. "0 9 * * 1-5" is 09:00 on working days."""
    id: str | None = None
    """Only to replace a plan you have."""


class SetPlansInput(Input):
    plans: list[PlanItem]


def _set_plans(tx: Tx, acting: Acting, given: SetPlansInput) -> ToolResult:
    items = [plans.PlanDraft(**item.model_dump()) for item in given.plans]
    return {"success": True, "plans": plans.set_plans(tx, acting.id, items, acting.chain_depth)}


TOOL = BuiltIn(
    name="set_plans",
    description=(
        "Plan a run of your own for later. Each plan has exactly one of runAfter, scheduledAt (both once) and cron "
        "(again and again). The result shows when each will fire (nextAt). Examples: "
        '{"plans": [{"name": "Ask Sara again", "instruction": "Ask Sara in Project Alpha for the budget, if she has '
        'not sent it.", "runAfter": "2 hours"}]}, {"plans": [{"name": "Daily report", "instruction": "Post the daily '
        'report in Daily Reports.", "cron": "0 9 * * *"}]}'
    ),
    input=SetPlansInput,
    call=_set_plans,
)
