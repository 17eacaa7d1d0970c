"""`get_my_runs`: what else the agent is doing."""

from __future__ import annotations

from typing import Annotated, Any

import sqlalchemy as sa
from pydantic import Field

from majlis.clock import iso
from majlis.runs.calls.context import Acting, ToolResult
from majlis.runs.view.shapes import RunStatus
from majlis.store.tables import runs
from majlis.store.tables.runs import has_status
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import BuiltIn, Input


class GetMyRuns(Input):
    status: RunStatus | None = None
    """Only runs with this status; left out: all."""
    limit: Annotated[int, Field(ge=1, le=100)] = 20


def get_my_runs(tx: Tx, acting: Acting, input: GetMyRuns) -> ToolResult:
    statement = sa.select(runs).where(runs.c.agent_id == acting.id).order_by(runs.c.id.desc()).limit(input.limit)
    if input.status is not None:
        statement = statement.where(has_status(input.status))
    return {"success": True, "runs": [_line(row, acting) for row in tx.all(statement)]}


def _line(row: sa.Row[Any], acting: Acting) -> dict[str, Any]:
    line: dict[str, Any] = {
        "runId": row.id,
        "status": row.status,
        "trigger": row.trigger,
        "createdAt": iso(row.created_at),
        "endedAt": iso(row.ended_at) if row.ended_at else None,
    }
    if row.id == acting.run_id:
        line["thisRun"] = True
    if row.status in ("waiting_reply", "waiting_tool"):
        line["wait"] = row.wait
    return line


TOOL = BuiltIn("get_my_runs", "List your own runs, newest first.", GetMyRuns, get_my_runs)
