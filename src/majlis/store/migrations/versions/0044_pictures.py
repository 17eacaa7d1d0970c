"""Pictures of people, agents and services."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

_KEY = sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "pictures",
        sa.Column("entity_id", _KEY, nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["entity_id"], ["entities.id"], name="fk_pictures_entity_id"),
        sa.PrimaryKeyConstraint("entity_id", name="pk_pictures"),
    )
    op.create_index("ix_pictures_sha256", "pictures", ["sha256"])
