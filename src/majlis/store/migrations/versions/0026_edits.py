"""Edits, deletions and reactions (L1, L2, L3)."""

import sqlite3

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

_KEY = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite" and sqlite3.sqlite_version_info >= (3, 42):
        # Deleted words leave the search index at once.
        op.execute("INSERT INTO messages_fts (messages_fts, rank) VALUES ('secure-delete', 1)")
    op.add_column("messages", sa.Column("revision", sa.Integer, nullable=False, server_default="0"))
    op.add_column("messages", sa.Column("edited_at", sa.BigInteger, nullable=True))
    op.add_column("messages", sa.Column("deleted_at", sa.BigInteger, nullable=True))
    op.add_column("messages", sa.Column("deleted_by", sa.JSON, nullable=True))
    op.add_column("messages", sa.Column("reactions", sa.JSON, nullable=True))
    op.create_table(
        "versions",
        sa.Column("message_id", _KEY, nullable=False),
        sa.Column("n", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("space_id", _KEY, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("at_seq", sa.BigInteger, nullable=False),
        sa.Column("seen_by", sa.JSON, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("replaced_at", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_versions_space_id"),
        sa.PrimaryKeyConstraint("message_id", "n", name="pk_versions"),
    )
    op.create_index("ix_versions_space_id", "versions", ["space_id"])
    op.create_table(
        "erasures",
        sa.Column("message_id", _KEY, nullable=False),
        sa.Column("space_id", _KEY, nullable=False),
        sa.Column("texts", sa.JSON, nullable=True),
        sa.Column("written_at", sa.BigInteger, nullable=False),
        sa.Column("deleted_at", sa.BigInteger, nullable=False),
        sa.Column("due_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("message_id", name="pk_erasures"),
    )
