"""Invites to spaces (G15)."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

_KEY = sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "invites",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("space_id", _KEY, nullable=False),
        sa.Column("created_by", _KEY, nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.Column("used", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("role IN ('admin', 'member', 'viewer')", name="ck_invites_role"),
        sa.CheckConstraint("used <= uses", name="ck_invites_uses"),
        sa.ForeignKeyConstraint(["created_by"], ["entities.id"], name="fk_invites_created_by"),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_invites_space_id"),
        sa.PrimaryKeyConstraint("id", name="pk_invites"),
        sa.UniqueConstraint("hash", name="uq_invites_hash"),
    )
    op.create_index("ix_invites_space_id", "invites", ["space_id"])
