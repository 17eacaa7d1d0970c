"""Tools for the agent's goals (P2)."""

from __future__ import annotations

from typing import Literal

from majlis.agents import goals
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import Input, built_in


class GoalItem(Input):
    id: str | None = None
    """A short name of your choice, for example "q4". Use it again to change the goal. Omit it to have one generated."""
    description: str | None = None
    """What to achieve. Required for a new goal."""
    status: Literal["active", "completed"] | None = None
    """Set it to completed when you reach the goal. A new goal is active."""
    priority: int | None = None
    """0 to 1000; higher comes first. A new goal has 0."""
    long_term: bool | None = None
    """Set it to true for a goal that is never finished, such as keeping something up to date."""


class SetGoals(Input):
    goals: list[GoalItem]


class DeleteGoals(Input):
    ids: list[str]


@built_in(
    "Add goals, or change existing goals by id; fields you omit stay unchanged. You see your active goals at the "
    "start of every run. Mark a goal as completed when you reach it. If you do not know its id, send any id "
    "without a description: the error lists the ids of your goals. Examples: "
    '{"goals": [{"id": "q4", "description": "Complete the Q4 report", "priority": 2}]}, later '
    '{"goals": [{"id": "q4", "status": "completed"}]}'
)
def set_goals(tx: Tx, call: CallContext, input: SetGoals) -> ToolResult:
    items = [goals.GoalChange(**item.model_dump()) for item in input.goals]
    return {"success": True, "goals": goals.set_goals(tx, call.run.agent_id, items)}


@built_in(
    "Delete goals that no longer matter. If you reached a goal, mark it as completed with set_goals instead. "
    'Example: {"ids": ["q4"]}. The result lists the deleted ids and, under notFound, the ids you do not have; '
    "in that case yours lists your goals with their ids."
)
def delete_goals(tx: Tx, call: CallContext, input: DeleteGoals) -> ToolResult:
    deleted = goals.delete_goals(tx, call.run.agent_id, input.ids)
    yours = {"yours": goals.known_goals(tx, call.run.agent_id)} if deleted["notFound"] else {}
    return {"success": True, **deleted, **yours}
