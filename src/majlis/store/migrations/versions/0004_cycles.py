"""Consciousness: at most one cycle per agent at a time, and summaries of past cycles."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

KEY = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
UNDER_WAY = sa.text("cycle AND ended_at IS NULL")


def upgrade() -> None:
    op.add_column("runs", sa.Column("cycle", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.create_index(
        "uq_runs_cycle", "runs", ["agent_id"], unique=True, sqlite_where=UNDER_WAY, postgresql_where=UNDER_WAY
    )
    op.create_table(
        "pasts",
        sa.Column("agent_id", KEY, nullable=False),
        sa.Column("through", sa.BigInteger(), nullable=False),
        sa.Column("trimmed", sa.BigInteger(), nullable=False),
        sa.Column("cap", sa.BigInteger(), nullable=False),
        sa.Column("groups", sa.JSON(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_pasts_agent_id")),
        sa.PrimaryKeyConstraint("agent_id", name=op.f("pk_pasts")),
    )
