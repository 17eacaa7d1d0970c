"""Models that admins have connected under a name. Configs of agents hold a copy of the choice."""

import sqlalchemy as sa

from majlis.store.tables.columns import Json, metadata, moment

connected_models = sa.Table(
    "connected_models",
    metadata,
    sa.Column("name", sa.String(64), primary_key=True),
    # As the `model` of a config; its key is the name of a secret or of an environment variable.
    sa.Column("choice", Json, nullable=False),
    # New agents propose it.
    sa.Column("is_default", sa.Boolean, nullable=False),
    moment("created_at", nullable=False),
    moment("changed_at", nullable=False),
)
sa.Index(
    "uq_connected_models_default",
    connected_models.c.is_default,
    unique=True,
    sqlite_where=connected_models.c.is_default,
    postgresql_where=connected_models.c.is_default,
)
