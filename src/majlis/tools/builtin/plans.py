"""Tools for the agent's plans: runs of its own at a later time (P3)."""

from __future__ import annotations

from typing import Literal

from majlis.agents import plans
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import Input, built_in


class PlanItem(Input):
    name: str
    """A short title on one line."""
    instruction: str
    """What to do when the plan fires. Name people and spaces: the run starts without an active space."""
    run_after: str | None = None
    """Run once, after this time: "45 seconds", "30 minutes", "2 hours", "1 day", "1 week"."""
    scheduled_at: str | None = None
    """Run once, at this time. Include the time zone: "2026-02-18T17:07:00Z"."""
    cron: str | None = None
    """Run repeatedly: minute hour day month weekday, in your time zone. "0 9 * * 1-5" is 09:00 on weekdays."""
    id: str | None = None
    """Give it only to replace an existing plan."""


class SetPlans(Input):
    plans: list[PlanItem]


class GetPlans(Input):
    status: Literal["active", "completed"] | None = None
    """Return only plans with this status. Omit to return both."""


class DeletePlans(Input):
    ids: list[str]


@built_in(
    "Schedule runs of your own for later. Give each plan exactly one of runAfter (once), scheduledAt (once) or "
    "cron (repeatedly). The result shows when each plan fires next (nextAt). Examples: "
    '{"plans": [{"name": "Ask Sara again", "instruction": "Ask Sara in Project Alpha for the budget, if she has '
    'not sent it.", "runAfter": "2 hours"}]}, {"plans": [{"name": "Daily report", "instruction": "Post the daily '
    'report in Daily Reports.", "cron": "0 9 * * *"}]}'
)
def set_plans(tx: Tx, call: CallContext, input: SetPlans) -> ToolResult:
    items = [plans.PlanDraft(**item.model_dump()) for item in input.plans]
    return {"success": True, "plans": plans.set_plans(tx, call.run.agent_id, items, call.run.chain_depth)}


@built_in(
    "List your plans with their ids, instructions and next times, active plans first. A completed plan does not "
    'fire again. Example: {"status": "active"}'
)
def get_plans(tx: Tx, call: CallContext, input: GetPlans) -> ToolResult:
    return {"success": True, "plans": plans.list_plans(tx, call.run.agent_id, input.status)}


@built_in(
    "Delete plans so that they do not fire again. Call get_plans to see their ids. "
    "The result lists the deleted ids and, under notFound, the ids you do not have."
)
def delete_plans(tx: Tx, call: CallContext, input: DeletePlans) -> ToolResult:
    return {"success": True, **plans.delete_plans(tx, call.run.agent_id, input.ids)}
