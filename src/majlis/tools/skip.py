"""`skip`: nothing in the inbox concerns the agent, and the cycle leaves no trace in its consciousness (K6)."""

from __future__ import annotations

from typing import Annotated

import sqlalchemy as sa
from pydantic import Field

from majlis.errors import Conflict
from majlis.runs.calls.context import Acting, ToolResult
from majlis.store.tables import steps
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import BuiltIn, Input

_ACTED = (
    sa.select(steps.c.run_id)
    .where(steps.c.run_id.in_(sa.bindparam("runs", expanding=True)), steps.c.kind == "tool")
    .limit(1)
)


class Skip(Input):
    reason: Annotated[str, Field(max_length=500)] | None = None
    """Why, in a few words, for the people who look after you."""


def skip(tx: Tx, acting: Acting, input: Skip) -> ToolResult:
    """Only as the first act: what was done has to stay in the agent's memory."""
    if tx.one(_ACTED, {"runs": [acting.run_id, *acting.earlier]}) is not None:
        raise Conflict(
            "not_the_first_act",
            "skip works only as the first act of a cycle, and you have acted already. To end the cycle, answer "
            "without calling a tool.",
        )
    acting.skipped = (input.reason or "").strip() or "skipped"
    return {"success": True, "status": "skipped"}


TOOL = BuiltIn(
    "skip",
    "End this cycle at once, as its first act: nothing in the inbox concerns you. The events count as handled, and "
    "nothing of the cycle is kept in your memory.",
    Skip,
    skip,
)
