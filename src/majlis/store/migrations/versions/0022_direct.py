"""Direct conversations (L8)."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("spaces", sa.Column("direct_key", sa.String(64), nullable=True))
    op.create_index("uq_spaces_direct_key", "spaces", ["direct_key"], unique=True)
