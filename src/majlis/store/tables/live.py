"""The event log. The topic is the id of a space, or of an entity for its own notices."""

import sqlalchemy as sa

from majlis.store.tables.columns import key, metadata, moment

events = sa.Table(
    "events",
    metadata,
    key("topic", primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("type", sa.String(64), nullable=False),
    # JSON text exactly as sent to clients.
    sa.Column("data", sa.Text, nullable=False),
    moment("at", nullable=False, index=True),
)
