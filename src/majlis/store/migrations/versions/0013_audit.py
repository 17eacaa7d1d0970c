"""The audit log."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_KEY = sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor_id", _KEY, nullable=False),
        sa.Column("actor_name", sa.String(length=64), nullable=False),
        sa.Column("action", sa.String(length=64), nullable=False),
        sa.Column("target", sa.String(length=256), nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("once", sa.String(length=64), nullable=True),
        sa.Column("n", sa.BigInteger(), nullable=True),
        sa.Column("seal", sa.String(length=64), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
        sa.UniqueConstraint("once", name="uq_audit_once"),
        sa.UniqueConstraint("n", name="uq_audit_n"),
    )
    op.create_index("ix_audit_actor_id_id", "audit", ["actor_id", "id"])
    op.create_index("ix_audit_action_id", "audit", ["action", "id"])
    unsealed = sa.text("n IS NULL")
    op.create_index("ix_audit_unsealed", "audit", ["id"], sqlite_where=unsealed, postgresql_where=unsealed)
