"""The indexes of the columns of 0008."""

from majlis.store.migrations import online

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    gathering = "state = 'pending' AND gather_until IS NOT NULL"
    online.add_index("ix_deliveries_gathering", "deliveries", ["space_id", "cause_id"], where=gathering)
    online.add_index("ix_deliveries_gathering_agent", "deliveries", ["agent_id"], where=gathering)
    online.add_index("ix_runs_cause_id", "runs", ["cause_id"], where="ended_at IS NULL")
    online.add_index("ix_agents_paused_at", "agents", ["id"], where="paused_at IS NOT NULL")
    online.add_index("ix_spaces_paused_at", "spaces", ["id"], where="paused_at IS NOT NULL")
