"""Conversations of clients that speak OpenAI's protocol (D3)."""

import sqlalchemy as sa

from majlis.store.tables.columns import key, metadata, moment

conversations = sa.Table(
    "conversations",
    metadata,
    key("id", primary_key=True),
    key("entity_id", sa.ForeignKey("entities.id"), nullable=False),
    # The agent or the space that the client talks with.
    key("target_id", nullable=False),
    # A digest of the client's name for the conversation.
    key("name_digest", nullable=False),
    key("space_id", sa.ForeignKey("spaces.id"), index=True),
    # How many messages were posted, and what the newest was.
    sa.Column("turns", sa.BigInteger, nullable=False, server_default="0"),
    key("last_digest"),
    key("last_message_id"),
    moment("created_at", nullable=False),
    sa.UniqueConstraint("entity_id", "target_id", "name_digest"),
)
