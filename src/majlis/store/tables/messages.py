"""Messages. Migrations also create their full-text index."""

import sqlalchemy as sa

from majlis.store.tables.columns import Json, index_where, key, metadata, moment, one_of

messages = sa.Table(
    "messages",
    metadata,
    # The insertion order; the row id of SQLite's full-text index.
    sa.Column("n", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    key("id", nullable=False, unique=True),
    key("space_id", sa.ForeignKey("spaces.id"), nullable=False),
    sa.Column("seq", sa.BigInteger, nullable=False),
    key("sender_id", sa.ForeignKey("entities.id"), nullable=False),
    sa.Column("kind", sa.String(16), nullable=False, server_default="text"),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("tool", Json),
    key("reply_to"),
    sa.Column("mentions", Json),
    sa.Column("origin", Json),
    key("run_id"),
    sa.Column("chain_depth", sa.Integer, nullable=False, server_default="0"),
    key("root_cause"),
    sa.Column("client_id", sa.String(128)),
    key("stream_id"),
    sa.Column("session_id", sa.String(256)),
    moment("created_at", nullable=False),
    one_of("kind", "text", "tool", "notice"),
    sa.CheckConstraint("seq > 0", name="seq"),
    sa.UniqueConstraint("space_id", "seq"),
)
index_where(
    "uq_messages_client_id",
    messages.c.space_id,
    messages.c.sender_id,
    messages.c.client_id,
    where=messages.c.client_id.is_not(None),
    unique=True,
)
