"""Messages. Migrations also create their full-text index, and a new column needs one (`migrations/versions/`)."""

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
    # The message that directly caused this one, or itself.
    key("caused_by"),
    # The beginning of the chain, and on whose behalf it is (O1, O2). Null for notices and messages of earlier versions.
    key("cause_id"),
    key("person_id"),
    sa.Column("client_id", sa.String(128)),
    key("stream_id"),
    sa.Column("session_id", sa.String(256)),
    # The person who stopped the run that was writing it: {"id", "name"} (L7).
    sa.Column("stopped_by", Json),
    moment("created_at", nullable=False),
    # Grows with every change of the message: an edit, a deletion, a reaction, the result of a tool.
    sa.Column("revision", sa.Integer, nullable=False, server_default="0"),
    moment("edited_at"),
    # A deleted message keeps its number and loses its text (L2). `deleted_by` is the member with the name of then.
    moment("deleted_at"),
    sa.Column("deleted_by", Json),
    # [{"emoji", "entityIds"}] in the order in which they were first used (L3).
    sa.Column("reactions", Json),
    # Since when it is pinned, and by which member.
    moment("pinned_at"),
    key("pinned_by"),
    # The files it carries, as the API returns them; `attachments` says who may read them.
    sa.Column("files", Json),
    # Posted although its run had not read a message before it (E8).
    sa.Column("crossed", sa.Boolean, nullable=False, server_default=sa.false()),
    one_of("kind", "text", "tool", "notice"),
    sa.CheckConstraint("seq > 0", name="seq"),
    sa.UniqueConstraint("space_id", "seq"),
)
# What agents sent because of something elsewhere (F6).
index_where("ix_messages_origin", messages.c.id, where=messages.c.origin.is_not(None))
index_where(
    "uq_messages_client_id",
    messages.c.space_id,
    messages.c.sender_id,
    messages.c.client_id,
    where=messages.c.client_id.is_not(None),
    unique=True,
)

index_where("ix_messages_pinned_at", messages.c.space_id, messages.c.pinned_at, where=messages.c.pinned_at.is_not(None))

# Earlier texts of edited messages (L1).
versions = sa.Table(
    "versions",
    metadata,
    key("message_id", primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True, autoincrement=False),
    key("space_id", sa.ForeignKey("spaces.id"), nullable=False, index=True),
    # The text before the edit.
    sa.Column("text", sa.Text, nullable=False),
    # The newest message of the space when it was edited, and the agents that may have been shown the text by then.
    sa.Column("at_seq", sa.BigInteger, nullable=False),
    sa.Column("seen_by", Json, nullable=False),
    moment("created_at", nullable=False),
    moment("replaced_at", nullable=False),
)

# Deleted messages whose copies are still to be removed (L2).
erasures = sa.Table(
    "erasures",
    metadata,
    key("message_id", primary_key=True),
    key("space_id", nullable=False),
    # The texts to look for, for less than a minute; then null.
    sa.Column("texts", Json),
    # Copies are not older.
    moment("written_at", nullable=False),
    moment("deleted_at", nullable=False),
    moment("due_at", nullable=False),
)
