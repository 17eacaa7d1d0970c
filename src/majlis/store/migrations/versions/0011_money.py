"""What a run has cost, the text that it wrote but did not send, and how far chains go in a space."""

import sqlalchemy as sa
from alembic import op

from majlis.store.migrations import online

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    online.allow_values("spaces", "triggers", "everyone", "mentioned", "orchestrated", "elected")
    op.add_column("runs", sa.Column("cost", sa.Double(), nullable=True))
    op.add_column("runs", sa.Column("unsent_step", sa.Integer(), nullable=True))
    op.add_column("spaces", sa.Column("max_chain_depth", sa.Integer(), nullable=True))
