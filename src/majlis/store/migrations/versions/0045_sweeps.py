"""Indexes for sweeps, which read whole tables every ten minutes, and at each deletion of a message."""

from majlis.store.migrations import online

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None


def upgrade() -> None:
    online.add_index("ix_messages_origin", "messages", ["id"], where="origin IS NOT NULL")
    online.add_index("ix_cycles_created_at", "cycles", ["created_at", "run_id"])
    for table, column in (
        ("spaces", "deleted_at"),
        ("tokens", "expires_at"),
        ("tokens", "ended_at"),
        ("webhook_deliveries", "ended_at"),
    ):
        online.add_index(f"ix_{table}_{column}", table, [column], where=f"{column} IS NOT NULL")
