"""set_goals: what the agent works towards over many runs (P2)."""

from __future__ import annotations

from typing import Literal

from majlis.agents import goals
from majlis.runs.calls.context import Acting, ToolResult
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import BuiltIn, Input


class GoalItem(Input):
    id: str | None = None
    """A short name of your choice, for example "q4"; the same id later changes this goal. Left out: one is made."""
    description: str | None = None
    """What is to be reached. Needed for a new goal."""
    status: Literal["active", "completed"] | None = None
    """A new goal is active."""
    priority: int | None = None
    """0 to 1000; a new goal has 0."""
    long_term: bool | None = None
    """True for a goal that is never finished, such as keeping something up to date."""


class SetGoalsInput(Input):
    goals: list[GoalItem]


def _set_goals(tx: Tx, acting: Acting, given: SetGoalsInput) -> ToolResult:
    items = [goals.GoalChange(**item.model_dump()) for item in given.goals]
    return {"success": True, "goals": goals.set_goals(tx, acting.id, items)}


TOOL = BuiltIn(
    name="set_goals",
    description=(
        "Add goals, or change goals you have by their id: what you leave out stays as it is. You see your active goals "
        "at the start of every run; mark one as completed when it is reached. If you do not know its id, give "
        "any id without a description: the answer tells you the ids of your goals. Examples: "
        '{"goals": [{"id": "q4", "description": "Complete the Q4 report", "priority": 2}]}, later '
        '{"goals": [{"id": "q4", "status": "completed"}]}'
    ),
    input=SetGoalsInput,
    call=_set_goals,
)
