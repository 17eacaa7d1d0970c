"""Who may approve a call."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("cards", sa.Column("approvals", sa.JSON(), nullable=True))
    op.add_column("cards", sa.Column("to_admins", sa.Boolean(), server_default=sa.false(), nullable=False))
