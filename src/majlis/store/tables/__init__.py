"""The data model for PostgreSQL and SQLite. Migrations create it; these tables are for queries."""

from majlis.store.tables.agents import agents, goals, memories, plans
from majlis.store.tables.cards import cards
from majlis.store.tables.columns import metadata
from majlis.store.tables.entities import entities, gateway, tokens
from majlis.store.tables.live import events
from majlis.store.tables.messages import messages
from majlis.store.tables.runs import cycles, deliveries, pasts, runs, steps, views
from majlis.store.tables.spaces import members, phases, spaces, turns

__all__ = [
    "agents", "cards", "cycles", "deliveries", "entities", "events", "gateway", "goals", "members", "memories",
    "messages", "metadata", "pasts", "phases", "plans", "runs", "spaces", "steps", "tokens", "turns", "views",
]  # fmt: skip
