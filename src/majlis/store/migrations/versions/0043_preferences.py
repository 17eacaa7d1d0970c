"""The choices of people in the web app."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None

_KEY = sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "preferences",
        sa.Column("entity_id", _KEY, nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("value", sa.JSON(none_as_null=True), nullable=False),
        sa.ForeignKeyConstraint(["entity_id"], ["entities.id"], name="fk_preferences_entity_id"),
        sa.PrimaryKeyConstraint("entity_id", name="pk_preferences"),
    )
