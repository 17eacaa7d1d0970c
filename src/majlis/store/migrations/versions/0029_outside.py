"""Which agents are outside: programs take their events, workers do not (D2)."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("agents", sa.Column("outside", sa.Boolean, nullable=False, server_default=sa.false()))
    where = sa.text("outside")
    op.create_index("ix_agents_outside", "agents", ["id"], postgresql_where=where, sqlite_where=where)
