"""delete_goals: give up goals, or clear away completed ones (P2)."""

from __future__ import annotations

from majlis.agents import goals
from majlis.runs.calls.context import Acting, ToolResult
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import BuiltIn, Input


class DeleteGoalsInput(Input):
    ids: list[str]


def _delete_goals(tx: Tx, acting: Acting, given: DeleteGoalsInput) -> ToolResult:
    deleted = goals.delete_goals(tx, acting.id, given.ids)
    yours = {"yours": goals.known_goals(tx, acting.id)} if deleted["notFound"] else {}
    return {"success": True, **deleted, **yours}


TOOL = BuiltIn(
    name="delete_goals",
    description=(
        "Delete goals that no longer matter. A goal you have reached is better marked as completed with set_goals. "
        'Example: {"ids": ["q4"]}. The result lists what was deleted and, under notFound, ids that you do not have; '
        "then yours lists the goals you have, with their ids."
    ),
    input=DeleteGoalsInput,
    call=_delete_goals,
)
