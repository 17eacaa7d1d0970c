"""Memories, goals and plans know the space and person they came from; keys are unique per agent and space."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

KEY = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("plans", _scope())
    if op.get_bind().dialect.name == "postgresql":
        _change_key("memories", "key")
        _change_key("goals", "id")
    else:
        _copy_memories()
        _copy_goals()


def _scope() -> sa.Column[str]:
    return sa.Column("scope_id", sa.String(length=64), server_default="", nullable=False)


def _change_key(table: str, name: str) -> None:
    op.add_column(table, _scope())
    op.add_column(table, sa.Column("person_id", KEY, nullable=True))
    op.drop_constraint(f"pk_{table}", table)
    op.create_primary_key(f"pk_{table}", table, ["agent_id", "scope_id", name])


def _copy_memories() -> None:
    """SQLite cannot change a primary key. These tables are small: an agent has at most 500 memories and 200 goals."""
    op.create_table(
        "new_memories",
        sa.Column("agent_id", KEY, nullable=False),
        _scope(),
        sa.Column("key", sa.String(length=128), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("person_id", KEY, nullable=True),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_memories_agent_id")),
        sa.PrimaryKeyConstraint("agent_id", "scope_id", "key", name=op.f("pk_memories")),
    )
    _replace("memories", 'agent_id, "key", value, updated_at')


def _copy_goals() -> None:
    op.create_table(
        "new_goals",
        sa.Column("agent_id", KEY, nullable=False),
        _scope(),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), server_default="active", nullable=False),
        sa.Column("priority", sa.Integer(), server_default="0", nullable=False),
        sa.Column("long_term", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("person_id", KEY, nullable=True),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("status IN ('active', 'completed')", name=op.f("ck_goals_status")),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_goals_agent_id")),
        sa.PrimaryKeyConstraint("agent_id", "scope_id", "id", name=op.f("pk_goals")),
    )
    _replace("goals", "agent_id, id, description, status, priority, long_term, updated_at")


def _replace(table: str, columns: str) -> None:
    op.execute(f"INSERT INTO new_{table} ({columns}) SELECT {columns} FROM {table}")
    op.drop_table(table)
    op.rename_table(f"new_{table}", table)
