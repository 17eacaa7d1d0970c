"""Tools for the agent's own runs: list, stop and absorb them (J1)."""

from __future__ import annotations

from typing import Annotated, Any

import sqlalchemy as sa
from pydantic import Field

from majlis.clock import iso
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.runs.end.cancel import absorb_own_run, stop_own_run
from majlis.runs.view.shapes import RunStatus
from majlis.spaces.acts_for import run_of_person
from majlis.store.tables import runs
from majlis.store.tables.runs import has_status
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import Input, built_in


class GetMyRuns(Input):
    status: RunStatus | None = None
    """Return only runs with this status. Omit to return all."""
    limit: Annotated[int, Field(ge=1, le=100)] = 20


class OtherRun(Input):
    run_id: Annotated[str, Field(min_length=1, max_length=64)]
    """The id of one of your runs that has not ended."""


@built_in("List your own runs, newest first.")
def get_my_runs(tx: Tx, call: CallContext, input: GetMyRuns) -> ToolResult:
    statement = (
        sa.select(runs).where(runs.c.agent_id == call.run.agent_id).order_by(runs.c.id.desc()).limit(input.limit)
    )
    if call.run.limited_to is not None:
        statement = statement.where(run_of_person(call.run.limited_to))
    if input.status is not None:
        statement = statement.where(has_status(input.status))
    return {"success": True, "runs": [_run(row, call) for row in tx.all(statement)]}


def _run(row: sa.Row[Any], call: CallContext) -> dict[str, Any]:
    run: dict[str, Any] = {
        "runId": row.id,
        "status": row.status,
        "trigger": row.trigger,
        "createdAt": iso(row.created_at),
        "endedAt": iso(row.ended_at) if row.ended_at else None,
    }
    if row.id == call.run.id:
        run["thisRun"] = True
    if row.status in ("waiting_reply", "waiting_tool"):
        run["wait"] = row.wait
    return run


@built_in("Cancel another of your own runs.")
def stop_run(tx: Tx, call: CallContext, input: OtherRun) -> ToolResult:
    stop_own_run(tx, call.run, input.run_id)
    return {"success": True, "runId": input.run_id, "status": "canceled"}


@built_in(
    "Take over another of your own active runs. It is canceled, and you get its trigger and the actions it has "
    "taken so far. Continue that work in this run."
)
def absorb_run(tx: Tx, call: CallContext, input: OtherRun) -> ToolResult:
    return {"success": True, "runId": input.run_id, **absorb_own_run(tx, call.run, input.run_id)}
