"""Causes (O1), budgets and what was spent of them (E5)."""

import sqlalchemy as sa

from majlis.store.tables.columns import key, metadata, moment, one_of

# What began a chain of events: a person's or service's message, a service event, a plan or a heartbeat that was due.
# Messages, deliveries and runs have the cause's id and person beside them, without a foreign key: they are copied along
# every hop, and a check at each would cost more than the copy.
causes = sa.Table(
    "causes",
    metadata,
    key("id", primary_key=True),
    sa.Column("kind", sa.String(16), nullable=False),
    # On whose behalf: the author of the message, the service, or the person for whom the plan was made. Null for a
    # heartbeat.
    key("person_id", sa.ForeignKey("entities.id")),
    # For a plan: the cause of the run that set or last changed it.
    key("parent_id"),
    key("message_id"),
    # The runs that agents' messages have started (E4).
    sa.Column("runs", sa.BigInteger, nullable=False, server_default="0"),
    moment("created_at", nullable=False),
    one_of("kind", "message", "service", "plan", "heartbeat"),
)

_SCOPES = ("gateway", "space", "agent", "person", "cause")

# Per day, except for a cause. The scope_id of the gateway is empty.
budgets = sa.Table(
    "budgets",
    metadata,
    sa.Column("scope", sa.String(16), primary_key=True),
    sa.Column("scope_id", sa.String(64), primary_key=True),
    sa.Column("usd", sa.Double),
    sa.Column("tokens", sa.BigInteger),
    moment("updated_at", nullable=False),
    one_of("scope", *_SCOPES),
    sa.CheckConstraint("usd >= 0", name="usd"),
    sa.CheckConstraint("tokens >= 0", name="tokens"),
)

# Each worker adds to rows of its own, so that no row is a bottleneck. The day of a cause is empty.
spend = sa.Table(
    "spend",
    metadata,
    sa.Column("day", sa.String(10), primary_key=True),
    sa.Column("scope", sa.String(16), primary_key=True),
    sa.Column("scope_id", sa.String(64), primary_key=True),
    sa.Column("worker", sa.String(64), primary_key=True),
    sa.Column("usd", sa.Double, nullable=False, server_default="0"),
    sa.Column("tokens", sa.BigInteger, nullable=False, server_default="0"),
    one_of("scope", *_SCOPES),
)
