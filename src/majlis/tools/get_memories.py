"""get_memories: some or all of what the agent remembers (P1)."""

from __future__ import annotations

from majlis.agents import memories
from majlis.runs.calls.context import Acting, ToolResult
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import BuiltIn, Input


class GetMemoriesInput(Input):
    keys: list[str] | None = None
    """Only these; leave it out for all."""


def _get_memories(tx: Tx, acting: Acting, given: GetMemoriesInput) -> ToolResult:
    # Models write an empty list for "no choice".
    return {"success": True, "memories": memories.list_memories(tx, acting.id, given.keys or None)}


TOOL = BuiltIn(
    name="get_memories",
    description=(
        "Read your memories as they are now, with the time each was last changed. "
        'Example: {"keys": ["q4_report"]}; without keys, all of them.'
    ),
    input=GetMemoriesInput,
    call=_get_memories,
)
