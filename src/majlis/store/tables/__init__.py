"""The data model for PostgreSQL and SQLite. Migrations create it; these tables are for queries."""

from majlis.store.tables.agents import agent_versions, agents, goals, memories, plan_firings, plans
from majlis.store.tables.asks import ask_answers, asks
from majlis.store.tables.audit import audit
from majlis.store.tables.cards import cards
from majlis.store.tables.causes import budgets, causes, spend
from majlis.store.tables.columns import metadata
from majlis.store.tables.connected_models import connected_models
from majlis.store.tables.conversations import conversations
from majlis.store.tables.entities import blocks, entities, gateway, tokens
from majlis.store.tables.files import attachments, blobs, files
from majlis.store.tables.invites import invites
from majlis.store.tables.live import events
from majlis.store.tables.messages import erasures, messages, versions
from majlis.store.tables.pictures import pictures
from majlis.store.tables.preferences import preferences
from majlis.store.tables.push import push_cursors, push_subscriptions, pushes
from majlis.store.tables.runs import cycles, deliveries, pasts, runs, steps, tickets, views, wait_answers
from majlis.store.tables.secrets import secrets
from majlis.store.tables.spaces import additions, members, phases, spaces, turns
from majlis.store.tables.summaries import summaries, summary_requests
from majlis.store.tables.webhooks import incoming_webhooks, outgoing_webhooks, webhook_cursors, webhook_deliveries

__all__ = [
    "additions", "agent_versions", "agents", "ask_answers", "asks", "attachments", "audit", "blobs", "blocks",
    "budgets", "cards", "causes", "connected_models", "conversations", "cycles", "deliveries", "entities",
    "erasures", "events", "files", "gateway", "goals", "incoming_webhooks", "invites", "members", "memories",
    "messages", "metadata", "outgoing_webhooks", "pasts", "phases", "pictures", "plan_firings", "plans", "preferences",
    "push_cursors", "push_subscriptions", "pushes", "runs", "secrets", "spaces", "spend", "steps", "summaries",
    "summary_requests", "tickets", "tokens", "turns", "versions", "views", "wait_answers", "webhook_cursors",
    "webhook_deliveries",
]  # fmt: skip
