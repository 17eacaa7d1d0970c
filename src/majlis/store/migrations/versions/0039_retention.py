"""An index for deleting runs: cycles refer to them."""

from majlis.store.migrations import online

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    online.add_index("ix_cycles_run_id", "cycles", ["run_id"])
