"""Deliveries to agents, and the runs that handle them."""

from __future__ import annotations

import sqlalchemy as sa

from majlis.store.tables.columns import Json, index_where, key, metadata, moment, one_of

runs = sa.Table(
    "runs",
    metadata,
    key("id", primary_key=True),
    key("agent_id", sa.ForeignKey("agents.id"), nullable=False),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("reason", sa.String(64)),
    sa.Column("trigger", Json, nullable=False),
    key("trigger_space_id", sa.ForeignKey("spaces.id")),
    key("active_space_id", sa.ForeignKey("spaces.id")),
    sa.Column("chain_depth", sa.Integer, nullable=False, server_default="0"),
    sa.Column("wait", Json),
    key("wait_space_id", sa.ForeignKey("spaces.id")),
    key("wait_message_id"),
    moment("deadline"),
    sa.Column("lease_owner", sa.String(64)),
    moment("lease_until"),
    sa.Column("fence", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    # Workers that have died with it in a row without a finished call in between, and the number of finished calls when
    # the last one died (G1).
    sa.Column("deaths", sa.Integer, nullable=False, server_default="0"),
    sa.Column("finished_calls", sa.Integer, nullable=False, server_default="0"),
    sa.Column("requests", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("input_tokens", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("cached_tokens", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("output_tokens", sa.BigInteger, nullable=False, server_default="0"),
    # The latest model, as `provider:name` (up to 64 and 200 characters).
    sa.Column("model", sa.String(300)),
    # In USD, each request at the price of its time; null if no price is known.
    sa.Column("cost", sa.Double),
    # The model step with an answer that the agent wrote but did not send (E10).
    sa.Column("unsent_step", sa.Integer),
    sa.Column("waits", sa.BigInteger, nullable=False, server_default="0"),
    # Working time, without waits (J6).
    sa.Column("working_millis", sa.BigInteger, nullable=False, server_default="0"),
    # Per space: the newest message that the run was shown, and the messages that it wrote (C2).
    sa.Column("shown", Json),
    # Notes for people, such as "produced text, sent nothing".
    sa.Column("notes", Json),
    # The run waits in a space without people, where agents can deadlock (M12).
    sa.Column("among_agents", sa.Boolean, nullable=False, server_default=sa.false()),
    # A cycle of a consciousness. It ends as one even if the agent's mind is changed meanwhile.
    sa.Column("cycle", sa.Boolean, nullable=False, server_default=sa.false()),
    # The cause and person of its trigger: what the chain began with, and on whose behalf the run acts (O3).
    key("cause_id"),
    key("person_id"),
    sa.Column("error", Json),
    # When a person asked its worker to stop it (L7).
    moment("stopping_at"),
    moment("created_at", nullable=False),
    moment("started_at"),
    moment("ended_at"),
    one_of("status", "queued", "running", "waiting_reply", "waiting_tool", "completed", "failed", "canceled"),
)
# Queued, running or waiting. Queries must use this expression for SQLite to use the partial indexes.
NOT_OVER: sa.ColumnElement[bool] = runs.c.ended_at.is_(None)

index_where("ix_runs_agent_id", runs.c.agent_id, runs.c.status, where=NOT_OVER)
sa.Index("ix_runs_trigger_space_id", runs.c.trigger_space_id, runs.c.id)
index_where("ix_runs_status_lease_until", runs.c.status, runs.c.lease_until, where=NOT_OVER)
index_where("ix_runs_deadline", runs.c.deadline, where=runs.c.deadline.is_not(None))
index_where("ix_runs_wait_space_id", runs.c.wait_space_id, where=runs.c.status == "waiting_reply")
# As text: SQLite uses a partial index only if the query's condition reads like the index's.
AMONG_AGENTS: sa.ColumnElement[bool] = sa.literal_column("runs.among_agents", sa.Boolean)
index_where("ix_runs_among_agents", runs.c.status, where=sa.text("status = 'waiting_reply' AND among_agents"))
index_where("ix_runs_cause_id", runs.c.cause_id, where=NOT_OVER)
sa.Index("ix_runs_agent_id_id", runs.c.agent_id, runs.c.id)

# At most one active cycle per agent, on all nodes (K2).
index_where("uq_runs_cycle", runs.c.agent_id, where=sa.text("cycle AND ended_at IS NULL"), unique=True)

deliveries = sa.Table(
    "deliveries",
    metadata,
    key("id", primary_key=True),
    key("agent_id", sa.ForeignKey("agents.id"), nullable=False),
    sa.Column("event_id", sa.String(256), nullable=False),
    sa.Column("type", sa.String(16), nullable=False),
    key("space_id", sa.ForeignKey("spaces.id")),
    key("message_id", index=True),
    # The number and the sender of its message.
    sa.Column("seq", sa.BigInteger),
    key("sender_id"),
    key("cause_id"),
    key("person_id"),
    sa.Column("payload", Json, nullable=False),
    sa.Column("chain_depth", sa.Integer, nullable=False, server_default="0"),
    sa.Column("state", sa.String(16), nullable=False, server_default="pending"),
    key("run_id", sa.ForeignKey("runs.id")),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    moment("not_before", nullable=False, server_default="0"),
    # Set while it gathers with others of its cause: it is due at the latest then (E1).
    moment("gather_until"),
    # The agent that its message goes to first. The deliveries of the other agents stand by (E12).
    key("elected_id"),
    # The span in which its event happened, as in `traceparent`; only if spans are sent somewhere (D7).
    sa.Column("trace", sa.String(55)),
    moment("created_at", nullable=False),
    # An event is delivered to an agent once (T7).
    sa.UniqueConstraint("agent_id", "event_id"),
    one_of("type", "space_message", "plan", "service", "tool_result", "heartbeat"),
    one_of("state", "pending", "taken", "done", "passed", "failed", "collected", "parked", "withdrawn"),
)
index_where("ix_deliveries_run_id", deliveries.c.run_id, where=deliveries.c.run_id.is_not(None))
index_where("ix_deliveries_pending", deliveries.c.not_before, deliveries.c.id, where=deliveries.c.state == "pending")
index_where("ix_deliveries_owed", deliveries.c.agent_id, deliveries.c.id, where=deliveries.c.state == "pending")
# As text: SQLite uses a partial index only if the query's condition reads like the index's.
_GATHERING = sa.text("state = 'pending' AND gather_until IS NOT NULL")
index_where("ix_deliveries_gathering", deliveries.c.space_id, deliveries.c.cause_id, where=_GATHERING)
index_where("ix_deliveries_gathering_agent", deliveries.c.agent_id, where=_GATHERING)

# The answers that a run has gathered, by the number of its wait (W4). A member's first answer counts.
wait_answers = sa.Table(
    "wait_answers",
    metadata,
    key("run_id", sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("wait_n", sa.Integer, primary_key=True),
    key("entity_id", sa.ForeignKey("entities.id"), primary_key=True),
    key("message_id", nullable=False, index=True),
)

# The run that decides again, of those of a cause whose messages are held in a space (E8).
tickets = sa.Table(
    "tickets",
    metadata,
    key("space_id", primary_key=True),
    key("cause_id", primary_key=True),
    key("run_id", nullable=False),
    moment("expires_at", nullable=False),
)

steps = sa.Table(
    "steps",
    metadata,
    key("run_id", sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("call_id", sa.String(256)),
    sa.Column("name", sa.String(128)),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("input", Json),
    # The unmasked input, if part of it is secret (`writeOnly`). Kept until the call ends, since it may be retried.
    sa.Column("secret", Json),
    sa.Column("output", Json),
    sa.Column("usage", Json),
    moment("started_at", nullable=False),
    moment("ended_at"),
    one_of("kind", "model", "tool"),
    one_of("state", "started", "done", "error"),
)

views = sa.Table(
    "views",
    metadata,
    key("run_id", sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("step", sa.Integer, primary_key=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
    moment("created_at", nullable=False, index=True),
)

cycles = sa.Table(
    "cycles",
    metadata,
    key("agent_id", sa.ForeignKey("agents.id"), primary_key=True),
    sa.Column("n", sa.BigInteger, primary_key=True),
    key("run_id", sa.ForeignKey("runs.id"), nullable=False, index=True),
    sa.Column("messages", Json, nullable=False),
    sa.Column("summary", sa.Text),
    sa.Column("tokens", sa.Integer, nullable=False),
    moment("created_at", nullable=False),
)

sa.Index("ix_cycles_created_at", cycles.c.created_at, cycles.c.run_id)

# Which cycles of a consciousness are shown as summaries (K7). Compaction changes this row, never the cycles.
pasts = sa.Table(
    "pasts",
    metadata,
    key("agent_id", sa.ForeignKey("agents.id"), primary_key=True),
    # The newest cycle shown as a summary, and the newest whose long contents are truncated to `cap` tokens.
    sa.Column("through", sa.BigInteger, nullable=False),
    sa.Column("trimmed", sa.BigInteger, nullable=False),
    sa.Column("cap", sa.BigInteger, nullable=False),
    sa.Column("groups", Json, nullable=False),
    moment("updated_at", nullable=False),
)


def has_status(status: str) -> sa.ColumnElement[bool]:
    """Adds the condition of the partial indexes for runs that have not ended."""
    found = runs.c.status == status
    return found if status in ("completed", "failed", "canceled") else sa.and_(NOT_OVER, found)
