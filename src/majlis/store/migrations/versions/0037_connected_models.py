"""Models that are connected under a name."""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "connected_models",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("choice", sa.JSON(), nullable=False),
        sa.Column("is_default", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_connected_models"),
    )
    where = sa.text("is_default")
    op.create_index(
        "uq_connected_models_default",
        "connected_models",
        ["is_default"],
        unique=True,
        sqlite_where=where,
        postgresql_where=where,
    )
