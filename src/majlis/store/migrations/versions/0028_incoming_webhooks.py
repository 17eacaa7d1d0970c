"""Incoming webhooks (D4)."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

_KEY = sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "incoming_webhooks",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("address", _KEY, nullable=False),
        sa.Column("entity_id", _KEY, nullable=False),
        sa.Column("space_id", _KEY, nullable=True),
        sa.Column("agent_id", _KEY, nullable=True),
        sa.Column("scheme", _KEY, nullable=False),
        sa.Column("secret", _KEY, nullable=True),
        sa.Column("template", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["entity_id"], ["entities.id"], name="fk_incoming_webhooks_entity_id"),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_incoming_webhooks_space_id"),
        sa.ForeignKeyConstraint(["agent_id"], ["entities.id"], name="fk_incoming_webhooks_agent_id"),
        sa.PrimaryKeyConstraint("id", name="pk_incoming_webhooks"),
        sa.UniqueConstraint("address", name="uq_incoming_webhooks_address"),
        sa.UniqueConstraint("entity_id", name="uq_incoming_webhooks_entity_id"),
    )
