"""Webhooks that get the events of an outside agent."""

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None

_KEY = sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("outgoing_webhooks", sa.Column("agent_id", _KEY, nullable=True))
    op.add_column("outgoing_webhooks", sa.Column("failed_at", sa.BigInteger(), nullable=True))
