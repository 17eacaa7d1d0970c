"""Incoming and outgoing webhooks (D4)."""

import sqlalchemy as sa

from majlis.store.tables.columns import Json, index_where, key, metadata, moment, one_of

incoming_webhooks = sa.Table(
    "incoming_webhooks",
    metadata,
    key("id", primary_key=True),
    # The last part of its URL, which cannot be guessed.
    key("address", nullable=False, unique=True),
    # The service that posts.
    key("entity_id", sa.ForeignKey("entities.id"), nullable=False, unique=True),
    key("space_id", sa.ForeignKey("spaces.id")),
    key("agent_id", sa.ForeignKey("entities.id")),
    key("scheme", nullable=False),
    # The name of a stored secret.
    key("secret"),
    sa.Column("template", sa.Text),
    moment("created_at", nullable=False),
)

# Events of spaces are sent to the URL, with a signature.
outgoing_webhooks = sa.Table(
    "outgoing_webhooks",
    metadata,
    key("id", primary_key=True),
    sa.Column("url", sa.Text, nullable=False),
    # Null for all spaces of the creator.
    key("space_id", sa.ForeignKey("spaces.id")),
    # An outside agent, whose events it gets instead of a space's.
    key("agent_id"),
    # The types of events, or "*".
    sa.Column("events", Json, nullable=False),
    # Encrypted.
    sa.Column("secret", sa.Text, nullable=False),
    # It sends only what the creator may read.
    key("creator_id", sa.ForeignKey("entities.id"), nullable=False),
    # Since the last success.
    moment("failing_since"),
    # The last failure.
    moment("failed_at"),
    moment("disabled_at"),
    # Why it is disabled: `failing`, `gone` or `creator_left`.
    sa.Column("reason", sa.String(16)),
    moment("created_at", nullable=False),
)

# Up to which event of the space's log the deliveries are in the queue.
webhook_cursors = sa.Table(
    "webhook_cursors",
    metadata,
    key("webhook_id", sa.ForeignKey("outgoing_webhooks.id"), primary_key=True),
    key("space_id", sa.ForeignKey("spaces.id"), primary_key=True),
    sa.Column("seq", sa.BigInteger, nullable=False),
)

# The queue, and the log of what was sent. The content stays in the event, so that deleted text is gone from here, too.
webhook_deliveries = sa.Table(
    "webhook_deliveries",
    metadata,
    # The `webhook-id` of all its attempts.
    key("id", primary_key=True),
    key("webhook_id", sa.ForeignKey("outgoing_webhooks.id"), nullable=False),
    key("space_id", sa.ForeignKey("spaces.id"), nullable=False),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("type", sa.String(64), nullable=False),
    sa.Column("state", sa.String(16), nullable=False, server_default="pending"),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    # The last HTTP status, or what went wrong.
    sa.Column("status", sa.Integer),
    sa.Column("error", sa.String(300)),
    # While a node sends it, the end of its lease.
    moment("due_at", nullable=False),
    # When it was put in the queue, again after "send again".
    moment("queued_at", nullable=False),
    moment("created_at", nullable=False),
    moment("ended_at"),
    one_of("state", "pending", "delivered", "failed"),
    sa.UniqueConstraint("webhook_id", "space_id", "seq"),
)
_PENDING = sa.text("state = 'pending'")
index_where("ix_webhook_deliveries_due", webhook_deliveries.c.due_at, where=_PENDING)
index_where(
    "ix_webhook_deliveries_ended_at", webhook_deliveries.c.ended_at, where=webhook_deliveries.c.ended_at.is_not(None)
)
index_where("ix_webhook_deliveries_event", webhook_deliveries.c.space_id, webhook_deliveries.c.seq, where=_PENDING)
