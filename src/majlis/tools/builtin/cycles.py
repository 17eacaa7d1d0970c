"""`recall_cycles`: summaries of earlier cycles in full; the prompt shows only their beginnings (K7)."""

from __future__ import annotations

from typing import Annotated

import sqlalchemy as sa
from pydantic import Field

from majlis.clock import iso
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.store.tables import cycles
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import Input, built_in


class RecallCycles(Input):
    first: Annotated[int, Field(ge=1, le=2**53)]
    """The number of the first cycle to read."""
    count: Annotated[int, Field(ge=1, le=50)] = 10
    """How many cycles to read."""


@built_in("Read the summaries of your earlier cycles in full. EARLIER CYCLES shows only their beginnings.")
def recall_cycles(tx: Tx, call: CallContext, input: RecallCycles) -> ToolResult:
    asked = cycles.c.agent_id == call.run.agent_id, cycles.c.n >= input.first
    columns = cycles.c.n, cycles.c.summary, cycles.c.created_at
    rows = tx.all(sa.select(*columns).where(*asked).order_by(cycles.c.n).limit(input.count))
    found = [{"n": row.n, "summary": row.summary, "at": iso(row.created_at)} for row in rows]
    return {"success": True, "cycles": found}
