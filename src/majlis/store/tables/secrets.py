"""Secrets under a name (G14), and the hosts that the owner allows for models (G6)."""

import sqlalchemy as sa

from majlis.store.tables.columns import Json, key, metadata, moment

secrets = sa.Table(
    "secrets",
    metadata,
    sa.Column("name", sa.String(64), primary_key=True),
    # Encrypted with a key that is derived from the server key.
    sa.Column("value", sa.Text, nullable=False),
    sa.Column("hosts", Json, nullable=False),
    key("set_by", sa.ForeignKey("entities.id"), nullable=False),
    # The owner's word also allows models to be reached at these hosts.
    sa.Column("set_by_owner", sa.Boolean, nullable=False),
    moment("created_at", nullable=False),
    moment("changed_at", nullable=False),
    moment("last_used_at"),
)
