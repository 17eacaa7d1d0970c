"""Conversations of clients that speak OpenAI's protocol (D3)."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

_KEY = sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("entity_id", _KEY, nullable=False),
        sa.Column("target_id", _KEY, nullable=False),
        sa.Column("name_digest", _KEY, nullable=False),
        sa.Column("space_id", _KEY, nullable=True),
        sa.Column("turns", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("last_digest", _KEY, nullable=True),
        sa.Column("last_message_id", _KEY, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["entity_id"], ["entities.id"], name="fk_conversations_entity_id"),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_conversations_space_id"),
        sa.PrimaryKeyConstraint("id", name="pk_conversations"),
        sa.UniqueConstraint(
            "entity_id", "target_id", "name_digest", name="uq_conversations_entity_id_target_id_name_digest"
        ),
    )
    op.create_index("ix_conversations_space_id", "conversations", ["space_id"])
