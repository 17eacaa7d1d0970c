"""The agent that a message in an elected space goes to first (E12)."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

KEY = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("deliveries", sa.Column("elected_id", KEY, nullable=True))
