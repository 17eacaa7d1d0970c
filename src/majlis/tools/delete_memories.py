"""delete_memories: forget by key (P1)."""

from __future__ import annotations

from majlis.agents import memories
from majlis.runs.calls.context import Acting, ToolResult
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import BuiltIn, Input


class DeleteMemoriesInput(Input):
    keys: list[str]


def _delete_memories(tx: Tx, acting: Acting, given: DeleteMemoriesInput) -> ToolResult:
    return {"success": True, **memories.delete_memories(tx, acting.id, given.keys)}


TOOL = BuiltIn(
    name="delete_memories",
    description=(
        'Forget memories that are no longer true or needed. Example: {"keys": ["q4_report"]}. '
        "The result lists what was deleted and, under notFound, the keys that you do not have."
    ),
    input=DeleteMemoriesInput,
    call=_delete_memories,
)
