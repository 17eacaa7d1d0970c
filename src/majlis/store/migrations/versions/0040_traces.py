"""The span in which the event of a delivery happened (D7)."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("deliveries", sa.Column("trace", sa.String(length=55), nullable=True))
