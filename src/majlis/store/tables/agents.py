"""Agents, and their memories, goals and plans."""

from typing import Any

import sqlalchemy as sa

from majlis.store.tables.columns import Json, index_where, key, metadata, moment, one_of

agents = sa.Table(
    "agents",
    metadata,
    key("id", sa.ForeignKey("entities.id"), primary_key=True),
    sa.Column("config", Json, nullable=False),
    sa.Column("version", sa.Integer, nullable=False, server_default="1"),
    # For a consciousness: its active space lasts across cycles (A5).
    key("active_space_id", sa.ForeignKey("spaces.id")),
    # A smaller context for a model that refused a longer one, for a day (F2).
    sa.Column("context_limit", Json),
    # The next heartbeat (P6).
    moment("heartbeat_at", index=True),
    # While it is paused, no run of it begins or goes on (E7).
    moment("paused_at"),
    key("paused_by"),
    moment("updated_at", nullable=False),
    # Its mind is `outside`: programs take its events, workers do not (D2).
    sa.Column("outside", sa.Boolean, nullable=False, server_default=sa.false()),
)
# The configs that an agent has had, the current one among them; `n` is the agent's version then.
agent_versions = sa.Table(
    "agent_versions",
    metadata,
    key("agent_id", sa.ForeignKey("agents.id"), primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("config", Json, nullable=False),
    # The entity; null for what it was before versions were kept, or when it was created.
    key("changed_by"),
    moment("created_at", nullable=False),
)
# As text: SQLite uses a partial index only if the query's condition reads like the index's.
IS_OUTSIDE: sa.ColumnElement[bool] = sa.literal_column("agents.outside", sa.Boolean)
index_where("ix_agents_outside", agents.c.id, where=sa.text("outside"))
index_where("ix_agents_paused_at", agents.c.id, where=agents.c.paused_at.is_not(None))


def _scope(**options: Any) -> sa.Column[str]:
    """Where a row came from (G4): the id of a space; of the person, if the run had no space; or empty, if an admin or
    an earlier version wrote it."""
    return sa.Column("scope_id", sa.String(64), nullable=False, server_default="", **options)


memories = sa.Table(
    "memories",
    metadata,
    key("agent_id", sa.ForeignKey("agents.id"), primary_key=True),
    _scope(primary_key=True),
    sa.Column("key", sa.String(128), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
    key("person_id"),
    moment("updated_at", nullable=False),
)

goals = sa.Table(
    "goals",
    metadata,
    key("agent_id", sa.ForeignKey("agents.id"), primary_key=True),
    _scope(primary_key=True),
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("status", sa.String(16), nullable=False, server_default="active"),
    sa.Column("priority", sa.Integer, nullable=False, server_default="0"),
    sa.Column("long_term", sa.Boolean, nullable=False, server_default=sa.false()),
    key("person_id"),
    moment("updated_at", nullable=False),
    one_of("status", "active", "completed"),
)

plans = sa.Table(
    "plans",
    metadata,
    key("id", primary_key=True),
    key("agent_id", sa.ForeignKey("agents.id"), nullable=False, index=True),
    sa.Column("name", sa.String(128), nullable=False),
    sa.Column("instruction", sa.Text, nullable=False),
    sa.Column("cron", sa.String(128)),
    moment("scheduled_at"),
    sa.Column("run_after", sa.String(64)),
    sa.Column("status", sa.String(16), nullable=False, server_default="active"),
    moment("next_at", index=True),
    # The depth of the run that set the plan (T6).
    sa.Column("chain_depth", sa.Integer, nullable=False, server_default="0"),
    _scope(),
    # Those of the run that set or last changed the plan (O1, O2).
    key("cause_id"),
    key("person_id"),
    moment("created_at", nullable=False),
    one_of("status", "active", "completed"),
    sa.CheckConstraint("status <> 'active' OR next_at IS NOT NULL", name="next_at"),
)

# How many times plans of an agent have fired on a day (days since 1970, UTC).
plan_firings = sa.Table(
    "plan_firings",
    metadata,
    key("agent_id", primary_key=True),
    sa.Column("day", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("count", sa.BigInteger, nullable=False),
)
