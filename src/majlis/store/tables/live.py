"""The live log: every event of a space (topic: its id) and every notice to one entity (topic: the entity's id)."""

from __future__ import annotations

import sqlalchemy as sa

from majlis.store.tables.columns import key, metadata, moment

events = sa.Table(
    "events",
    metadata,
    key("topic", primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("type", sa.String(64), nullable=False),
    # The JSON text as it goes to clients: written once, sent as it is.
    sa.Column("data", sa.Text, nullable=False),
    moment("at", nullable=False, index=True),
)
