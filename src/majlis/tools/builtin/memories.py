"""set_memories: what the agent wants to know in its later runs (P1)."""

from __future__ import annotations

from majlis.agents import memories
from majlis.runs.calls.context import Acting, ToolResult
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import BuiltIn, Input


class MemoryItem(Input):
    key: str
    """A short name on one line, for example "q4_report". At most 128 characters."""
    value: str
    """The text to remember, at most 16 KB. Empty clears the key."""


class SetMemoriesInput(Input):
    memories: list[MemoryItem]


def _set_memories(tx: Tx, acting: Acting, given: SetMemoriesInput) -> ToolResult:
    items = [memories.NewMemory(item.key, item.value) for item in given.memories]
    return {"success": True, **memories.set_memories(tx, acting.id, items)}


TOOL = BuiltIn(
    name="set_memories",
    description=(
        "Remember facts for your later runs. You see all your memories at the start of every run, so keep them short "
        "and few. A key that exists is overwritten; an empty value clears it. Example: "
        '{"memories": [{"key": "q4_report", "value": "Waiting for the budget from Finance. Revenue $2.1M."}]}'
    ),
    input=SetMemoriesInput,
    call=_set_memories,
)
