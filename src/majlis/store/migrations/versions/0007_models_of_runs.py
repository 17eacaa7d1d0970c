"""The model of each run, so that its cost does not change with its agent's config."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("model", sa.String(length=300), nullable=True))
