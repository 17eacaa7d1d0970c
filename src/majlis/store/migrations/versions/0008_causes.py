"""Causes: what a run goes back to, and for which person. Also the columns of gathering, waits, pauses and budgets."""

import sqlalchemy as sa
from alembic import op

from majlis.store.migrations import online

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

KEY = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
STATES = ("pending", "taken", "done", "passed", "failed", "collected", "parked", "withdrawn")


def upgrade() -> None:
    online.allow_values("deliveries", "state", *STATES)
    _create_causes()
    _create_wait_answers()
    _create_budgets()
    # The message that directly caused this one. The cause that all of them go back to is new.
    op.execute("ALTER TABLE messages RENAME COLUMN root_cause TO caused_by")
    for table in ("messages", "deliveries", "runs", "plans"):
        op.add_column(table, sa.Column("cause_id", KEY, nullable=True))
        op.add_column(table, sa.Column("person_id", KEY, nullable=True))
    op.add_column("deliveries", sa.Column("seq", sa.BigInteger(), nullable=True))
    op.add_column("deliveries", sa.Column("sender_id", KEY, nullable=True))
    op.add_column("deliveries", sa.Column("gather_until", sa.BigInteger(), nullable=True))
    for table in ("agents", "spaces"):
        op.add_column(table, sa.Column("paused_at", sa.BigInteger(), nullable=True))
        op.add_column(table, sa.Column("paused_by", KEY, nullable=True))


def _create_causes() -> None:
    op.create_table(
        "causes",
        sa.Column("id", KEY, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("person_id", KEY, nullable=True),
        sa.Column("parent_id", KEY, nullable=True),
        sa.Column("message_id", KEY, nullable=True),
        sa.Column("runs", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("kind IN ('message', 'service', 'plan', 'heartbeat')", name=op.f("ck_causes_kind")),
        sa.ForeignKeyConstraint(["person_id"], ["entities.id"], name=op.f("fk_causes_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_causes")),
    )


def _create_wait_answers() -> None:
    op.create_table(
        "wait_answers",
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("wait_n", sa.Integer(), nullable=False),
        sa.Column("entity_id", KEY, nullable=False),
        sa.Column("message_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_wait_answers_run_id")),
        sa.ForeignKeyConstraint(["entity_id"], ["entities.id"], name=op.f("fk_wait_answers_entity_id")),
        sa.PrimaryKeyConstraint("run_id", "wait_n", "entity_id", name=op.f("pk_wait_answers")),
    )
    op.create_index("ix_wait_answers_message_id", "wait_answers", ["message_id"])


def _create_budgets() -> None:
    op.create_table(
        "budgets",
        sa.Column("scope", sa.String(length=16), nullable=False),
        sa.Column("scope_id", sa.String(length=64), nullable=False),
        sa.Column("usd", sa.Double(), nullable=True),
        sa.Column("tokens", sa.BigInteger(), nullable=True),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("scope IN ('gateway', 'space', 'agent', 'person', 'cause')", name=op.f("ck_budgets_scope")),
        sa.CheckConstraint("usd >= 0", name=op.f("ck_budgets_usd")),
        sa.CheckConstraint("tokens >= 0", name=op.f("ck_budgets_tokens")),
        sa.PrimaryKeyConstraint("scope", "scope_id", name=op.f("pk_budgets")),
    )
    op.create_table(
        "spend",
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("scope", sa.String(length=16), nullable=False),
        sa.Column("scope_id", sa.String(length=64), nullable=False),
        sa.Column("worker", sa.String(length=64), nullable=False),
        sa.Column("usd", sa.Double(), server_default="0", nullable=False),
        sa.Column("tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.CheckConstraint("scope IN ('gateway', 'space', 'agent', 'person', 'cause')", name=op.f("ck_spend_scope")),
        sa.PrimaryKeyConstraint("day", "scope", "scope_id", "worker", name=op.f("pk_spend")),
    )
