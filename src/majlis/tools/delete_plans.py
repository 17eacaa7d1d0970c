"""delete_plans: a plan that is deleted does not fire any more (P3)."""

from __future__ import annotations

from majlis.agents import plans
from majlis.runs.calls.context import Acting, ToolResult
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import BuiltIn, Input


class DeletePlansInput(Input):
    ids: list[str]


def _delete_plans(tx: Tx, acting: Acting, given: DeletePlansInput) -> ToolResult:
    return {"success": True, **plans.delete_plans(tx, acting.id, given.ids)}


TOOL = BuiltIn(
    name="delete_plans",
    description=(
        "Delete plans, so that they do not fire any more. get_plans shows their ids. "
        "The result lists what was deleted and, under notFound, ids that you do not have."
    ),
    input=DeletePlansInput,
    call=_delete_plans,
)
