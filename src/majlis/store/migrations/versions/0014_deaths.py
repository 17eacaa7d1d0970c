"""How many workers have died with a run without progress (G1)."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("deaths", sa.Integer(), server_default="0", nullable=False))
    op.add_column("runs", sa.Column("finished_calls", sa.Integer(), server_default="0", nullable=False))
