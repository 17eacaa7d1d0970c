"""`stop_run`: the agent ends another run of its own."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from majlis.runs.calls.context import Acting, ToolResult
from majlis.runs.end.cancel import stop_own_run
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import BuiltIn, Input


class StopRun(Input):
    run_id: Annotated[str, Field(min_length=1, max_length=64)]
    """The id of one of your runs that has not ended."""


def stop_run(tx: Tx, acting: Acting, input: StopRun) -> ToolResult:
    stop_own_run(tx, acting, input.run_id)
    return {"success": True, "runId": input.run_id, "status": "canceled"}


TOOL = BuiltIn("stop_run", "Cancel another of your own runs.", StopRun, stop_run)
