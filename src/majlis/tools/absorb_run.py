"""`absorb_run`: the agent takes over what another run of its own was doing, and ends that one."""

from __future__ import annotations

from majlis.runs.calls.context import Acting, ToolResult
from majlis.runs.end.cancel import absorb_own_run
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import BuiltIn
from majlis.tools.stop_run import StopRun


def absorb_run(tx: Tx, acting: Acting, input: StopRun) -> ToolResult:
    return {"success": True, "runId": input.run_id, **absorb_own_run(tx, acting, input.run_id)}


TOOL = BuiltIn(
    "absorb_run",
    "Take over another of your own active runs: it is canceled, and you get its trigger and what it has done so far, "
    "to go on with here.",
    StopRun,
    absorb_run,
)
