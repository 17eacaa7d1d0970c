"""Deliveries: one row per agent and event. Offering the same event again changes nothing (T7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy.dialects import postgresql, sqlite

from majlis.inbox.trigger import TriggerType
from majlis.inbox.wake import QUEUED, WorkAvailable
from majlis.store import ids
from majlis.store.hot import hot
from majlis.store.tables import deliveries
from majlis.store.transactions import Dialect, Tx

_INSERT: dict[Dialect, Any] = {
    "sqlite": hot(sqlite.insert(deliveries).on_conflict_do_nothing(index_elements=["agent_id", "event_id"])),
    "postgresql": hot(postgresql.insert(deliveries).on_conflict_do_nothing(index_elements=["agent_id", "event_id"])),
}


def new_delivery(
    tx: Tx,
    agent_id: str,
    type: TriggerType,
    event_id: str,
    payload: Any,
    chain_depth: int = 0,
    *,
    space_id: str | None = None,
    message_id: str | None = None,
    run_id: str | None = None,
) -> dict[str, Any]:
    """A row to insert. `run_id` is the run that takes it at once."""
    return {
        "id": ids.new("dlv"),
        "agent_id": agent_id,
        "event_id": event_id,
        "type": type,
        "space_id": space_id,
        "message_id": message_id,
        "payload": payload,
        "chain_depth": chain_depth,
        "state": "taken" if run_id else "pending",
        "run_id": run_id,
        "created_at": tx.now,
    }


def insert_deliveries(tx: Tx, rows: Sequence[dict[str, Any]], resumed: bool = False) -> None:
    if rows:
        tx.execute(_INSERT[tx.dialect], rows)
        tx.outbox.append(WorkAvailable(payload=QUEUED) if resumed else WorkAvailable())


def insert_delivery(tx: Tx, row: dict[str, Any]) -> bool:
    """False if the agent has this event already."""
    if tx.execute(_INSERT[tx.dialect], row).rowcount == 0:
        return False
    tx.outbox.append(WorkAvailable())
    return True
