"""Questions that programs put to a space, and the answers (D5)."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

_KEY = sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "asks",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("space_id", _KEY, nullable=False),
        sa.Column("message_id", _KEY, nullable=False),
        sa.Column("asker_id", _KEY, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("result_schema", sa.JSON(), nullable=False),
        sa.Column("named", sa.JSON(), nullable=True),
        sa.Column("need", sa.Integer(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False, server_default="open"),
        sa.Column("reason", sa.String(length=16), nullable=True),
        sa.Column("deadline", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("kind IN ('text', 'approval', 'choice', 'form')", name=op.f("ck_asks_kind")),
        sa.CheckConstraint("state IN ('open', 'answered', 'expired')", name=op.f("ck_asks_state")),
        sa.CheckConstraint("need IS NOT NULL OR named IS NOT NULL", name=op.f("ck_asks_need")),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_asks_space_id"),
        sa.ForeignKeyConstraint(["asker_id"], ["entities.id"], name="fk_asks_asker_id"),
        sa.PrimaryKeyConstraint("id", name="pk_asks"),
        sa.UniqueConstraint("message_id", name="uq_asks_message_id"),
    )
    is_open = sa.text("state = 'open'")
    for name, columns in (
        ("ix_asks_deadline", ["deadline"]),
        ("ix_asks_open", ["space_id", "id"]),
        ("ix_asks_asker", ["asker_id"]),
    ):
        op.create_index(name, "asks", columns, postgresql_where=is_open, sqlite_where=is_open)
    op.create_table(
        "ask_answers",
        sa.Column("ask_id", _KEY, nullable=False),
        sa.Column("entity_id", _KEY, nullable=False),
        sa.Column("space_id", _KEY, nullable=False),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("message_id", _KEY, nullable=True),
        sa.Column("late", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["ask_id"], ["asks.id"], name="fk_ask_answers_ask_id"),
        sa.ForeignKeyConstraint(["entity_id"], ["entities.id"], name="fk_ask_answers_entity_id"),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_ask_answers_space_id"),
        sa.PrimaryKeyConstraint("ask_id", "entity_id", name="pk_ask_answers"),
    )
    op.create_index("ix_ask_answers_space_id", "ask_answers", ["space_id"])
    has_message = sa.text("message_id IS NOT NULL")
    op.create_index(
        "ix_ask_answers_message_id",
        "ask_answers",
        ["message_id"],
        postgresql_where=has_message,
        sqlite_where=has_message,
    )
