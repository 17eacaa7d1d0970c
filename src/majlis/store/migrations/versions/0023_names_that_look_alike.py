"""Entities cannot have names that look alike (X9). Names from before are compared by their key."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("entities", sa.Column("look_key", sa.String(256), nullable=True))
    op.execute("UPDATE entities SET look_key = name_key")
    living = sa.text("deleted_at IS NULL")
    op.create_index(
        "uq_entities_look_key", "entities", ["look_key"], unique=True, sqlite_where=living, postgresql_where=living
    )
