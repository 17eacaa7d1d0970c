"""The index for the files of a space, newest first (L4)."""

from majlis.store.migrations import online

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    online.add_index("ix_attachments_space_id", "attachments", ["space_id", "file_id", "message_id"])
