"""Summaries of blocks of messages (F3), and pinned messages."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

_KEY = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("spaces", sa.Column("pins", sa.Integer, nullable=False, server_default="0"))
    op.add_column("messages", sa.Column("pinned_at", sa.BigInteger, nullable=True))
    op.add_column("messages", sa.Column("pinned_by", _KEY, nullable=True))
    op.add_column("spaces", sa.Column("summaries", sa.Boolean, nullable=False, server_default=sa.true()))
    op.add_column("spaces", sa.Column("summarised_seq", sa.BigInteger, nullable=False, server_default="0"))
    op.create_table(
        "summaries",
        sa.Column("space_id", _KEY, nullable=False),
        sa.Column("block", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("text", sa.Text, nullable=True),
        sa.Column("at_seq", sa.BigInteger, nullable=True),
        sa.Column("model", sa.String(256), nullable=True),
        sa.Column("created_at", sa.BigInteger, nullable=True),
        sa.Column("lease", _KEY, nullable=True),
        sa.Column("lease_until", sa.BigInteger, nullable=True),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_summaries_space_id"),
        sa.PrimaryKeyConstraint("space_id", "block", name="pk_summaries"),
    )
    op.create_table(
        "summary_requests",
        sa.Column(
            "n",
            sa.BigInteger().with_variant(sa.Integer, "sqlite"),
            primary_key=True,
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("space_id", _KEY, nullable=False),
        sa.Column("model", sa.String(256), nullable=False),
        sa.Column("input_tokens", sa.BigInteger, nullable=False),
        sa.Column("cached_tokens", sa.BigInteger, nullable=False),
        sa.Column("output_tokens", sa.BigInteger, nullable=False),
        sa.Column("cost", sa.Double, nullable=True),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_summary_requests_space_id"),
        sa.PrimaryKeyConstraint("n", name="pk_summary_requests"),
    )
    op.create_index("ix_summary_requests_created_at", "summary_requests", ["created_at"])
