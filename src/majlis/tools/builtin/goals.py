"""Tools for the agent's goals (P2)."""

from __future__ import annotations

from majlis.agents import goals
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import Ids, Input, built_in


class SetGoals(Input):
    goals: list[goals.GoalChange]


@built_in(
    "Add goals, or change existing goals by id; fields you omit stay unchanged. You see your active goals at the "
    "start of every run. Mark a goal as completed when you reach it. If you do not know its id, send any id "
    "without a description: the error lists the ids of your goals. Examples: "
    '{"goals": [{"id": "q4", "description": "Complete the Q4 report", "priority": 2}]}, later '
    '{"goals": [{"id": "q4", "status": "completed"}]}'
)
def set_goals(tx: Tx, call: CallContext, input: SetGoals) -> ToolResult:
    return {"success": True, "goals": goals.set_goals(tx, call.run.agent_id, input.goals, call.run.source)}


@built_in(
    "Delete goals that no longer matter. If you reached a goal, mark it as completed with set_goals instead. "
    'Example: {"ids": ["q4"]}. The result lists the deleted ids and, under notFound, the ids you do not have; '
    "in that case yours lists your goals with their ids."
)
def delete_goals(tx: Tx, call: CallContext, input: Ids) -> ToolResult:
    deleted = goals.delete_goals(tx, call.run.agent_id, input.ids, call.run.source)
    yours = {"yours": goals.known_goals(tx, call.run.agent_id, call.run.source)} if deleted["notFound"] else {}
    return {"success": True, **deleted, **yours}
