"""Tools for the agent's plans: runs of its own at a later time (P3)."""

from __future__ import annotations

from majlis.agents import plans
from majlis.agents.own_rows import Progress
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import Ids, Input, built_in


class SetPlans(Input):
    plans: list[plans.PlanDraft]


class GetPlans(Input):
    status: Progress | None = None
    """Return only plans with this status. Omit to return both."""


@built_in(
    "Schedule runs of your own for later. Give each plan exactly one of runAfter (once), scheduledAt (once) or "
    "cron (repeatedly). The result shows when each plan fires next (nextAt). Examples: "
    '{"plans": [{"name": "Ask Sara again", "instruction": "Ask Sara in Project Alpha for the budget, if she has '
    'not sent it.", "runAfter": "2 hours"}]}, {"plans": [{"name": "Daily report", "instruction": "Post the daily '
    'report in Daily Reports.", "cron": "0 9 * * *"}]}'
)
def set_plans(tx: Tx, call: CallContext, input: SetPlans) -> ToolResult:
    run = call.run
    made = plans.set_plans(tx, run.agent_id, input.plans, run.chain_depth, run.cause, run.source)
    return {"success": True, "plans": made}


@built_in(
    "List your plans with their ids, instructions and next times, active plans first. A completed plan does not "
    'fire again. Example: {"status": "active"}'
)
def get_plans(tx: Tx, call: CallContext, input: GetPlans) -> ToolResult:
    return {"success": True, "plans": plans.list_plans(tx, call.run.agent_id, input.status, call.run.source)}


@built_in(
    "Delete plans so that they do not fire again. Call get_plans to see their ids. "
    "The result lists the deleted ids and, under notFound, the ids you do not have."
)
def delete_plans(tx: Tx, call: CallContext, input: Ids) -> ToolResult:
    return {"success": True, **plans.delete_plans(tx, call.run.agent_id, input.ids, call.run.source)}
