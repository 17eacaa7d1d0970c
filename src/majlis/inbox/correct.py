"""Admins correct what an agent keeps and has pending: memories, goals, plans, waits and its inbox (G8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.agents import goals, memories, own_rows, plans
from majlis.agents.agents import require_agent
from majlis.audit.record import record
from majlis.entities.caller import Caller, require_administrator
from majlis.errors import NotFound
from majlis.inbox.standby import settle_standby
from majlis.inbox.turns import settled_in_turn
from majlis.inbox.wake import WorkAvailable
from majlis.store.tables import deliveries, runs
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

Deletion = Callable[[Tx, str, list[str]], own_rows.DeletedJson]
_DELETIONS: dict[str, Deletion] = {
    "memory": memories.delete_memories,
    "goal": goals.delete_goals,
    "plan": plans.delete_plans,
}


class ClearedJson(TypedDict):
    ended: int


def delete_kept(tx: Tx, caller: Caller, agent_id: str, kind: str, name: str) -> None:
    """`kind` is memory, goal or plan; `name` its key or id."""
    _require_power(tx, caller, agent_id)
    if not _DELETIONS[kind](tx, agent_id, [name])["deleted"]:
        raise NotFound(f"unknown_{kind}", f"This agent has no {kind} {name[:64]!r}.")
    record(tx, caller, f"{kind}.deleted", agent_id, name=name)


def write_memory(tx: Tx, caller: Caller, agent_id: str, key: str, value: str) -> memories.MemoryJson:
    _require_power(tx, caller, agent_id)
    memories.set_memories(tx, agent_id, [memories.NewMemory(key, value)])
    record(tx, caller, "memory.changed", agent_id, name=key)
    found = memories.list_memories(tx, agent_id, [key])
    if not found:
        raise NotFound("unknown_memory", "The memory is empty, so it was deleted.")
    return found[0]


def end_waits(tx: Tx, caller: Caller, agent_id: str) -> ClearedJson:
    """Waits for answers and cards time out now; their runs continue with what they have."""
    _require_power(tx, caller, agent_id)
    waiting = runs.c.status.in_([word("waiting_reply"), word("waiting_tool")])
    ended = tx.execute(runs.update().where(runs.c.agent_id == agent_id, waiting).values(deadline=tx.now)).rowcount
    tx.outbox.append(WorkAvailable())
    record(tx, caller, "waits.ended", agent_id, count=ended)
    return {"ended": ended}


def clear_inbox(tx: Tx, caller: Caller, agent_id: str) -> ClearedJson:
    """Ends the events that no run has taken yet as `passed`."""
    _require_power(tx, caller, agent_id)
    pending = deliveries.c.agent_id == agent_id, deliveries.c.state == word("pending")
    rows = tx.all(sa.select(deliveries).where(*pending).with_for_update())
    for row in rows:
        _pass_over(tx, row, caller.name)
    record(tx, caller, "inbox.cleared", agent_id, count=len(rows))
    return {"ended": len(rows)}


def _pass_over(tx: Tx, delivery: sa.Row[Any], name: str) -> None:
    kept = {**delivery.payload, "reason": f"{name} cleared the agent's inbox."}
    tx.execute(deliveries.update().where(deliveries.c.id == delivery.id).values(state="passed", payload=kept))
    if delivery.event_id.startswith("trn_"):
        settled_in_turn(tx, delivery.event_id)
    settle_standby(tx, delivery, "passed")


def _require_power(tx: Tx, caller: Caller, agent_id: str) -> None:
    require_administrator(caller)
    require_agent(tx, agent_id)
