"""Web push: browsers that people subscribed, and the queue of what is sent to them."""

import sqlalchemy as sa

from majlis.store.tables.columns import index_where, key, metadata, moment

push_subscriptions = sa.Table(
    "push_subscriptions",
    metadata,
    key("id", primary_key=True),
    key("entity_id", sa.ForeignKey("entities.id"), nullable=False, index=True),
    # The session that subscribed; the subscription ends with it.
    key("token_id", nullable=False),
    # Given by the browser: the address at its push service, and the keys for the content.
    sa.Column("endpoint", sa.String(1024), nullable=False, unique=True),
    sa.Column("p256dh", sa.String(128), nullable=False),
    sa.Column("auth", sa.String(64), nullable=False),
    # The address of the app, which the push service learns.
    sa.Column("origin", sa.String(256), nullable=False),
    # The browser's time zone, for quiet hours.
    sa.Column("time_zone", sa.String(64), nullable=False),
    # How often in a row its push service did not respond, and until when nothing is sent to it because of that.
    sa.Column("failures", sa.Integer, nullable=False, server_default="0"),
    moment("retry_at"),
    moment("created_at", nullable=False),
)

# Up to which event of the space's log the pushes are in the queue.
push_cursors = sa.Table(
    "push_cursors",
    metadata,
    key("space_id", sa.ForeignKey("spaces.id"), primary_key=True),
    sa.Column("seq", sa.BigInteger, nullable=False),
)

# The content stays in the message. A row stays for an hour, so that an edit does not push the message again.
pushes = sa.Table(
    "pushes",
    metadata,
    key("subscription_id", sa.ForeignKey("push_subscriptions.id", ondelete="CASCADE"), primary_key=True),
    key("message_id", primary_key=True),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    # Null once it is over. While a node sends it, the end of its lease.
    moment("due_at"),
    moment("created_at", nullable=False, index=True),
)
index_where("ix_pushes_due_at", pushes.c.due_at, where=pushes.c.due_at.is_not(None))
