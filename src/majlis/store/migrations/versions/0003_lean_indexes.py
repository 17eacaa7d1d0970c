"""Smaller indexes: without ended runs where only active ones are queried; unused indexes are dropped."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("ix_runs_wait_message_id", "runs")
    op.drop_index("ix_runs_active_space_id", "runs")
    _narrow("ix_runs_agent_id", "runs", ["agent_id", "status"], "ended_at IS NULL")
    _narrow("ix_runs_status_lease_until", "runs", ["status", "lease_until"], "ended_at IS NULL")
    _narrow("ix_runs_deadline", "runs", ["deadline"], "deadline IS NOT NULL")
    _narrow("ix_deliveries_run_id", "deliveries", ["run_id"], "run_id IS NOT NULL")


def _narrow(name: str, table: str, columns: list[str], condition: str) -> None:
    op.drop_index(name, table)
    op.create_index(name, table, columns, sqlite_where=sa.text(condition), postgresql_where=sa.text(condition))
