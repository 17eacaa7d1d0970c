"""Turns of orchestrated spaces, and an index to find a space's latest phase."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

KEY = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
OPEN = sa.text("finished_at IS NULL")


def upgrade() -> None:
    op.create_table(
        "turns",
        sa.Column("id", KEY, nullable=False),
        sa.Column("space_id", KEY, nullable=False),
        sa.Column("request_id", KEY, nullable=False),
        sa.Column("message_id", KEY, nullable=False),
        sa.Column("run_id", KEY, nullable=True),
        sa.Column("phase", sa.String(length=64), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("chain_depth", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name=op.f("fk_turns_space_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_turns")),
    )
    op.create_index("ix_turns_request_id", "turns", ["request_id", "id"])
    op.create_index("ix_turns_open", "turns", ["space_id", "id"], sqlite_where=OPEN, postgresql_where=OPEN)
    op.drop_index("ix_phases_space_id", "phases")
    op.create_index("ix_phases_space_id_id", "phases", ["space_id", "id"])
