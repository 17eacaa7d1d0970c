"""The choices of people in the web app."""

import sqlalchemy as sa

from majlis.store.tables.columns import Json, key, metadata

preferences = sa.Table(
    "preferences",
    metadata,
    key("entity_id", sa.ForeignKey("entities.id"), primary_key=True),
    # Grows with each change, so that an app never goes back to an older state.
    sa.Column("revision", sa.BigInteger, nullable=False),
    # Only the fields that were ever changed.
    sa.Column("value", Json, nullable=False),
)
