"""How an event is owed: one row for each agent, once, however often it is offered (T7)."""

from __future__ import annotations

from typing import Any

from sqlalchemy.dialects import postgresql, sqlite

from majlis.store import ids
from majlis.store.hot import hot
from majlis.store.tables import deliveries
from majlis.store.transactions import Dialect, Tx

INSERT_DELIVERY: dict[Dialect, Any] = {
    "sqlite": hot(sqlite.insert(deliveries).on_conflict_do_nothing(index_elements=["agent_id", "event_id"])),
    "postgresql": hot(postgresql.insert(deliveries).on_conflict_do_nothing(index_elements=["agent_id", "event_id"])),
}


def owed(
    tx: Tx,
    agent_id: str,
    space_id: str,
    message_id: str,
    payload: dict[str, Any],
    chain_depth: int,
    event_id: str | None = None,
    run_id: str | None = None,
) -> dict[str, Any]:
    """A message as a row of the ledger. The message is the event, unless that is another; `run_id` is the run that has
    it already."""
    return {
        "id": ids.new("dlv"),
        "agent_id": agent_id,
        "event_id": event_id or message_id,
        "type": "space_message",
        "space_id": space_id,
        "message_id": message_id,
        "payload": payload,
        "chain_depth": chain_depth,
        "state": "taken" if run_id else "pending",
        "run_id": run_id,
        "created_at": tx.now,
    }
