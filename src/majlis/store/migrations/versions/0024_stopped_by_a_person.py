"""A person's Stop keeps what was written (L7)."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("messages", sa.Column("stopped_by", sa.JSON(none_as_null=True), nullable=True))
    op.add_column("runs", sa.Column("stopping_at", sa.BigInteger(), nullable=True))
