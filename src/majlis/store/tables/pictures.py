"""Pictures of people, agents and services."""

import sqlalchemy as sa

from majlis.store.tables.columns import key, metadata, moment

pictures = sa.Table(
    "pictures",
    metadata,
    key("entity_id", sa.ForeignKey("entities.id"), primary_key=True),
    # The hash of the content. It is part of the picture's address, so a browser keeps the picture for good.
    sa.Column("sha256", sa.String(64), nullable=False, index=True),
    # A small WebP file in base64.
    sa.Column("content", sa.Text, nullable=False),
    moment("changed_at", nullable=False),
)
