"""Tools for the agent's memories (P1)."""

from __future__ import annotations

from majlis.agents import memories
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import Input, built_in


class SetMemories(Input):
    memories: list[memories.NewMemory]


class GetMemories(Input):
    keys: list[str] | None = None
    """Return only these memories. Omit to return all."""


class DeleteMemories(Input):
    keys: list[str]


@built_in(
    "Remember facts for your later runs. You see all your memories at the start of every run, so keep them short "
    "and few. An existing key is overwritten; an empty value deletes it. Example: "
    '{"memories": [{"key": "q4_report", "value": "Waiting for the budget from Finance. Revenue $2.1M."}]}'
)
def set_memories(tx: Tx, call: CallContext, input: SetMemories) -> ToolResult:
    return {"success": True, **memories.set_memories(tx, call.run.agent_id, input.memories, call.run.source)}


@built_in(
    "Read your current memories, with the time each was last changed. "
    'Example: {"keys": ["q4_report"]}. Omit keys to read all of them.'
)
def get_memories(tx: Tx, call: CallContext, input: GetMemories) -> ToolResult:
    # Some models send an empty list when they want all.
    return {
        "success": True,
        "memories": memories.list_memories(tx, call.run.agent_id, input.keys or None, call.run.source),
    }


@built_in(
    'Delete memories that are outdated or no longer needed. Example: {"keys": ["q4_report"]}. '
    "The result lists the deleted keys and, under notFound, the keys you do not have."
)
def delete_memories(tx: Tx, call: CallContext, input: DeleteMemories) -> ToolResult:
    return {"success": True, **memories.delete_memories(tx, call.run.agent_id, input.keys, call.run.source)}
