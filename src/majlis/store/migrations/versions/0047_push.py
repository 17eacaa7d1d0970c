"""Web push: browsers that people subscribed, and the queue of what is sent to them."""

import sqlalchemy as sa
from alembic import op

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None

_KEY = sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "push_subscriptions",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("entity_id", _KEY, nullable=False),
        sa.Column("token_id", _KEY, nullable=False),
        sa.Column("endpoint", sa.String(length=1024), nullable=False),
        sa.Column("p256dh", sa.String(length=128), nullable=False),
        sa.Column("auth", sa.String(length=64), nullable=False),
        sa.Column("origin", sa.String(length=256), nullable=False),
        sa.Column("time_zone", sa.String(length=64), nullable=False),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("retry_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["entity_id"], ["entities.id"], name="fk_push_subscriptions_entity_id"),
        sa.PrimaryKeyConstraint("id", name="pk_push_subscriptions"),
        sa.UniqueConstraint("endpoint", name="uq_push_subscriptions_endpoint"),
    )
    op.create_index("ix_push_subscriptions_entity_id", "push_subscriptions", ["entity_id"])
    op.create_table(
        "push_cursors",
        sa.Column("space_id", _KEY, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_push_cursors_space_id"),
        sa.PrimaryKeyConstraint("space_id", name="pk_push_cursors"),
    )
    op.create_table(
        "pushes",
        sa.Column("subscription_id", _KEY, nullable=False),
        sa.Column("message_id", _KEY, nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["subscription_id"], ["push_subscriptions.id"], name="fk_pushes_subscription_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("subscription_id", "message_id", name="pk_pushes"),
    )
    op.create_index("ix_pushes_created_at", "pushes", ["created_at"])
    where = sa.text("due_at IS NOT NULL")
    op.create_index("ix_pushes_due_at", "pushes", ["due_at"], sqlite_where=where, postgresql_where=where)
    op.add_column("entities", sa.Column("active_until", sa.BigInteger(), nullable=True))
