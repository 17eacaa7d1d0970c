"""The stale-send guard (E8): messages that crossed others, and whose turn it is to decide again."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

_KEY = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("messages", sa.Column("crossed", sa.Boolean, nullable=False, server_default=sa.false()))
    op.create_table(
        "tickets",
        sa.Column("space_id", _KEY, primary_key=True),
        sa.Column("cause_id", _KEY, primary_key=True),
        sa.Column("run_id", _KEY, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
    )
