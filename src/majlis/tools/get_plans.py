"""get_plans: what the agent has planned, and when it fires (P3)."""

from __future__ import annotations

from typing import Literal

from majlis.agents import plans
from majlis.runs.calls.context import Acting, ToolResult
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import BuiltIn, Input


class GetPlansInput(Input):
    status: Literal["active", "completed"] | None = None
    """Left out: both."""


def _get_plans(tx: Tx, acting: Acting, given: GetPlansInput) -> ToolResult:
    return {"success": True, "plans": plans.list_plans(tx, acting.id, given.status)}


TOOL = BuiltIn(
    name="get_plans",
    description=(
        "List your plans with their ids, instructions and next times: active ones first. A completed plan has fired "
        'for the last time. Example: {"status": "active"}'
    ),
    input=GetPlansInput,
    call=_get_plans,
)
