"""Agents, and their memories, goals and plans."""

import sqlalchemy as sa

from majlis.store.tables.columns import Json, key, metadata, moment, one_of

agents = sa.Table(
    "agents",
    metadata,
    key("id", sa.ForeignKey("entities.id"), primary_key=True),
    sa.Column("config", Json, nullable=False),
    sa.Column("version", sa.Integer, nullable=False, server_default="1"),
    # For a consciousness: its active space lasts across cycles (A5).
    key("active_space_id", sa.ForeignKey("spaces.id")),
    # The next heartbeat (P6).
    moment("heartbeat_at", index=True),
    moment("updated_at", nullable=False),
)

memories = sa.Table(
    "memories",
    metadata,
    key("agent_id", sa.ForeignKey("agents.id"), primary_key=True),
    sa.Column("key", sa.String(128), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
    moment("updated_at", nullable=False),
)

goals = sa.Table(
    "goals",
    metadata,
    key("agent_id", sa.ForeignKey("agents.id"), primary_key=True),
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("status", sa.String(16), nullable=False, server_default="active"),
    sa.Column("priority", sa.Integer, nullable=False, server_default="0"),
    sa.Column("long_term", sa.Boolean, nullable=False, server_default=sa.false()),
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
    moment("created_at", nullable=False),
    one_of("status", "active", "completed"),
    sa.CheckConstraint("status <> 'active' OR next_at IS NOT NULL", name="next_at"),
)
