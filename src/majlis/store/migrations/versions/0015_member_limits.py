"""Who adds people to spaces, who blocks whom, and how often plans fire."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_KEY = sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "blocks",
        sa.Column("entity_id", _KEY, nullable=False),
        sa.Column("blocked_id", _KEY, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["entity_id"], ["entities.id"], name="fk_blocks_entity_id"),
        sa.ForeignKeyConstraint(["blocked_id"], ["entities.id"], name="fk_blocks_blocked_id"),
        sa.PrimaryKeyConstraint("entity_id", "blocked_id", name="pk_blocks"),
    )
    op.create_table(
        "additions",
        sa.Column("entity_id", _KEY, nullable=False),
        sa.Column("day", sa.BigInteger(), nullable=False),
        sa.Column("space_id", _KEY, nullable=False),
        sa.PrimaryKeyConstraint("entity_id", "day", "space_id", name="pk_additions"),
    )
    op.create_table(
        "plan_firings",
        sa.Column("agent_id", _KEY, nullable=False),
        sa.Column("day", sa.BigInteger(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("agent_id", "day", name="pk_plan_firings"),
    )
