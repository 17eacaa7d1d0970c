"""Cards, tool policies of spaces, and secret inputs of tool calls."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

KEY = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
OPEN = sa.text("state = 'open'")


def upgrade() -> None:
    op.add_column("spaces", sa.Column("tool_policy", sa.JSON(), nullable=True))
    op.add_column("steps", sa.Column("secret", sa.JSON(), nullable=True))
    op.create_table(
        "cards",
        sa.Column("id", KEY, nullable=False),
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("call_id", sa.String(length=160), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("agent_id", KEY, nullable=False),
        sa.Column("space_id", KEY, nullable=False),
        sa.Column("message_id", KEY, nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("ui", sa.String(length=16), nullable=False),
        sa.Column("purpose", sa.String(length=16), nullable=False),
        sa.Column("result_schema", sa.JSON(), nullable=False),
        sa.Column("input_digest", sa.String(length=64), nullable=True),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("chain_depth", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), server_default="open", nullable=False),
        sa.Column("deadline", sa.BigInteger(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=True),
        sa.Column("answered_by", KEY, nullable=True),
        sa.Column("answered_at", sa.BigInteger(), nullable=True),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("ui IN ('approval', 'choice', 'form')", name=op.f("ck_cards_ui")),
        sa.CheckConstraint("purpose IN ('answer', 'permission')", name=op.f("ck_cards_purpose")),
        sa.CheckConstraint("state IN ('open', 'answered', 'timeout', 'withdrawn')", name=op.f("ck_cards_state")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_cards_run_id")),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_cards_agent_id")),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name=op.f("fk_cards_space_id")),
        sa.ForeignKeyConstraint(["answered_by"], ["entities.id"], name=op.f("fk_cards_answered_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cards")),
        sa.UniqueConstraint("run_id", "call_id", name=op.f("uq_cards_run_id_call_id")),
    )
    op.create_index("ix_cards_deadline", "cards", ["deadline"], sqlite_where=OPEN, postgresql_where=OPEN)
    op.create_index("ix_cards_open", "cards", ["space_id", "id"], sqlite_where=OPEN, postgresql_where=OPEN)
    op.create_index("ix_cards_agent_id", "cards", ["agent_id", "state", "input_digest"])
