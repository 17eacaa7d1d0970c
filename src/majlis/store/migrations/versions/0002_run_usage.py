"""Usage and waits of runs, heartbeats, and the sender of notices."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

COUNTED = ("requests", "input_tokens", "cached_tokens", "output_tokens", "waits", "working_millis")


def upgrade() -> None:
    for name in COUNTED:
        op.add_column("runs", sa.Column(name, sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("runs", sa.Column("shown", sa.JSON(), nullable=True))
    op.add_column("runs", sa.Column("notes", sa.JSON(), nullable=True))
    op.add_column("runs", sa.Column("among_agents", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.drop_column("runs", "usage")
    op.create_index(
        "ix_runs_among_agents",
        "runs",
        ["status"],
        sqlite_where=sa.text("status = 'waiting_reply' AND among_agents"),
        postgresql_where=sa.text("status = 'waiting_reply' AND among_agents"),
    )
    op.create_index("ix_runs_wait_message_id", "runs", ["wait_message_id", "agent_id"])
    op.create_index("ix_runs_active_space_id", "runs", ["active_space_id", "status"])
    op.create_index("ix_runs_agent_id_id", "runs", ["agent_id", "id"])
    op.create_index(
        "ix_deliveries_owed",
        "deliveries",
        ["agent_id", "id"],
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.add_column("agents", sa.Column("heartbeat_at", sa.BigInteger(), nullable=True))
    op.create_index("ix_agents_heartbeat_at", "agents", ["heartbeat_at"])
    # SQLite cannot widen a column in place. The table is still empty, since no agent could run before this version.
    op.drop_column("steps", "call_id")
    op.add_column("steps", sa.Column("call_id", sa.String(length=256), nullable=True))
    # The sender of notices. Its id is the same on every gateway, so that an import keeps it.
    op.execute(
        "INSERT INTO entities (id, type, name, name_key, role, event_seq, created_at) "
        "VALUES ('ent_0000000000000000', 'service', 'Majlis', 'majlis', 'member', 0, 0)"
    )
