"""Invites to spaces (G15)."""

import sqlalchemy as sa

from majlis.store.tables.columns import key, metadata, moment, one_of

invites = sa.Table(
    "invites",
    metadata,
    key("id", primary_key=True),
    key("space_id", sa.ForeignKey("spaces.id"), nullable=False, index=True),
    key("created_by", sa.ForeignKey("entities.id"), nullable=False),
    # The hash of the code in the link, which is not stored.
    sa.Column("hash", sa.String(64), nullable=False, unique=True),
    # The role in the space.
    sa.Column("role", sa.String(16), nullable=False),
    sa.Column("uses", sa.Integer, nullable=False),
    sa.Column("used", sa.Integer, nullable=False, server_default="0"),
    moment("created_at", nullable=False),
    moment("expires_at", nullable=False),
    moment("ended_at"),
    one_of("role", "admin", "member", "viewer"),
    sa.CheckConstraint("used <= uses", name="uses"),
)
