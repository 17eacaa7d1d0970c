"""How long agents' messages gather in a space (E1)."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("spaces", sa.Column("gather_millis", sa.Integer(), server_default="12000", nullable=False))
