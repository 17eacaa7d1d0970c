"""Outgoing webhooks: which events go where, how far each has come, and the queue with its log (D4)."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

_KEY = sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "outgoing_webhooks",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("space_id", _KEY, nullable=True),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("creator_id", _KEY, nullable=False),
        sa.Column("failing_since", sa.BigInteger(), nullable=True),
        sa.Column("disabled_at", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.String(length=16), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_outgoing_webhooks_space_id"),
        sa.ForeignKeyConstraint(["creator_id"], ["entities.id"], name="fk_outgoing_webhooks_creator_id"),
        sa.PrimaryKeyConstraint("id", name="pk_outgoing_webhooks"),
    )
    op.create_table(
        "webhook_cursors",
        sa.Column("webhook_id", _KEY, nullable=False),
        sa.Column("space_id", _KEY, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["webhook_id"], ["outgoing_webhooks.id"], name="fk_webhook_cursors_webhook_id"),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_webhook_cursors_space_id"),
        sa.PrimaryKeyConstraint("webhook_id", "space_id", name="pk_webhook_cursors"),
    )
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("webhook_id", _KEY, nullable=False),
        sa.Column("space_id", _KEY, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False, server_default="pending"),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("error", sa.String(length=300), nullable=True),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("queued_at", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("state IN ('pending', 'delivered', 'failed')", name=op.f("ck_webhook_deliveries_state")),
        sa.ForeignKeyConstraint(["webhook_id"], ["outgoing_webhooks.id"], name="fk_webhook_deliveries_webhook_id"),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_webhook_deliveries_space_id"),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_deliveries"),
        sa.UniqueConstraint("webhook_id", "space_id", "seq", name="uq_webhook_deliveries_webhook_id_space_id_seq"),
    )
    is_pending = sa.text("state = 'pending'")
    op.create_index(
        "ix_webhook_deliveries_due", "webhook_deliveries", ["due_at"], postgresql_where=is_pending,
        sqlite_where=is_pending,
    )  # fmt: skip
    op.create_index(
        "ix_webhook_deliveries_event", "webhook_deliveries", ["space_id", "seq"], postgresql_where=is_pending,
        sqlite_where=is_pending,
    )  # fmt: skip
