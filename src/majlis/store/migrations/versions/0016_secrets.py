"""Secrets, stored encrypted under a name."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

KEY = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "secrets",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("hosts", sa.JSON(), nullable=False),
        sa.Column("set_by", KEY, nullable=False),
        sa.Column("set_by_owner", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["set_by"], ["entities.id"], name=op.f("fk_secrets_set_by")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_secrets")),
    )
