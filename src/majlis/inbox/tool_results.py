"""What a tool came to after the cycle that called it had gone on (J5): an event like any other, owed once."""

from __future__ import annotations

from majlis.inbox.deliveries import INSERT_DELIVERY
from majlis.inbox.wake import WorkAvailable
from majlis.store import ids
from majlis.store.transactions import Tx

_MAX_CALL_ID = 128


def deliver_tool_result(
    tx: Tx, agent_id: str, run_id: str, call_id: str, tool_name: str, result: object, chain_depth: int = 0
) -> bool:
    """Whether it is new. A model's ids for its calls are its own and may come again in another run, so the run is part
    of the event's id. `chain_depth` is that of the run: a tool's answer resets no chain (T6)."""
    values = {
        "id": ids.new("dlv"),
        "agent_id": agent_id,
        "event_id": f"tool:{run_id}:{call_id[:_MAX_CALL_ID]}",
        "type": "tool_result",
        "payload": {"toolName": tool_name, "toolCallId": call_id[:_MAX_CALL_ID], "result": result},
        "chain_depth": chain_depth,
        "created_at": tx.now,
    }
    if tx.execute(INSERT_DELIVERY[tx.dialect], values).rowcount == 0:
        return False
    tx.outbox.append(WorkAvailable())
    return True
