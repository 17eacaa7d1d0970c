"""Earlier configs of agents, and when people last had the app open."""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

_KEY = sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "agent_versions",
        sa.Column("agent_id", _KEY, nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("config", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("changed_by", _KEY, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name="fk_agent_versions_agent_id"),
        sa.PrimaryKeyConstraint("agent_id", "n", name="pk_agent_versions"),
    )
    op.add_column("entities", sa.Column("seen_at", sa.BigInteger(), nullable=True))
