"""Questions of MCP servers (D6): what a call needs to go on after the answer."""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("cards", sa.Column("elicitation", sa.JSON, nullable=True))
