"""The data model, one file for each idea. PostgreSQL and SQLite alike; migrations make it, these objects query it."""

from majlis.store.tables.agents import agents, goals, memories, plans
from majlis.store.tables.columns import metadata
from majlis.store.tables.entities import entities, gateway, tokens
from majlis.store.tables.live import events
from majlis.store.tables.runs import cycles, deliveries, runs, steps, views
from majlis.store.tables.spaces import members, messages, phases, spaces

__all__ = [
    "agents",
    "cycles",
    "deliveries",
    "entities",
    "events",
    "gateway",
    "goals",
    "members",
    "memories",
    "messages",
    "metadata",
    "phases",
    "plans",
    "runs",
    "spaces",
    "steps",
    "tokens",
    "views",
]
