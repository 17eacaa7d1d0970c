"""Finds pinned messages."""

from majlis.store.migrations import online

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    online.add_index("ix_messages_pinned_at", "messages", ["space_id", "pinned_at"], where="pinned_at IS NOT NULL")
