"""How an event is owed: one row for each agent, once, however often it is offered (T7)."""

from __future__ import annotations

from typing import Any

from sqlalchemy.dialects import postgresql, sqlite

from majlis.store.hot import hot
from majlis.store.tables import deliveries
from majlis.store.transactions import Dialect

INSERT_DELIVERY: dict[Dialect, Any] = {
    "sqlite": hot(sqlite.insert(deliveries).on_conflict_do_nothing(index_elements=["agent_id", "event_id"])),
    "postgresql": postgresql.insert(deliveries).on_conflict_do_nothing(index_elements=["agent_id", "event_id"]),
}
