"""The token that a session, link or token was opened with, so that it ends with it."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_LABEL = "browser, with "


def upgrade() -> None:
    op.add_column("tokens", sa.Column("parent_id", sa.String(length=64), nullable=True))
    # Until now the label of a session named its token.
    op.execute(
        f"UPDATE tokens SET parent_id = substr(label, {len(_LABEL) + 1}), label = 'browser' "
        f"WHERE kind = 'session' AND label LIKE '{_LABEL}tok_%'"
    )
    condition = sa.text("parent_id IS NOT NULL")
    op.create_index("ix_tokens_parent_id", "tokens", ["parent_id"], sqlite_where=condition, postgresql_where=condition)
