"""Files, the messages that carry them, and their content in the file store."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

KEY = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("messages", sa.Column("files", sa.JSON(), nullable=True))
    op.create_table(
        "blobs",
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("stored", sa.Boolean(), nullable=False),
        sa.Column("collect_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_blobs")),
        sa.UniqueConstraint("sha256", name=op.f("uq_blobs_sha256")),
    )
    op.create_table(
        "files",
        sa.Column("id", KEY, nullable=False),
        sa.Column("space_id", KEY, nullable=False),
        sa.Column("uploader_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=True),
        sa.Column("blob", sa.String(length=128), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("media_type", sa.String(length=128), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("width", sa.Integer(), nullable=True),
        sa.Column("height", sa.Integer(), nullable=True),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("collect_at", sa.BigInteger(), nullable=True),
        sa.Column("upload_key", sa.String(length=128), nullable=True),
        sa.CheckConstraint("bytes >= 0", name=op.f("ck_files_bytes")),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name=op.f("fk_files_space_id")),
        sa.ForeignKeyConstraint(["uploader_id"], ["entities.id"], name=op.f("fk_files_uploader_id")),
        sa.ForeignKeyConstraint(["blob"], ["blobs.name"], name=op.f("fk_files_blob")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_files")),
        sa.UniqueConstraint(
            "uploader_id", "space_id", "upload_key", name=op.f("uq_files_uploader_id_space_id_upload_key")
        ),
    )
    op.create_table(
        "attachments",
        sa.Column("message_id", KEY, nullable=False),
        sa.Column("file_id", KEY, nullable=False),
        sa.Column("space_id", KEY, nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["message_id"], ["messages.id"], name=op.f("fk_attachments_message_id")),
        sa.ForeignKeyConstraint(["file_id"], ["files.id"], name=op.f("fk_attachments_file_id")),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name=op.f("fk_attachments_space_id")),
        sa.PrimaryKeyConstraint("message_id", "file_id", name=op.f("pk_attachments")),
    )
    unused = sa.text("collect_at IS NOT NULL")
    for table in ("blobs", "files"):
        op.create_index(f"ix_{table}_collect_at", table, ["collect_at"], sqlite_where=unused, postgresql_where=unused)
    op.create_index("ix_files_blob", "files", ["blob"])
    op.create_index("ix_files_uploader_id", "files", ["uploader_id", "bytes"])
    op.create_index("ix_files_space_id", "files", ["space_id", "bytes"])
    op.create_index("ix_attachments_file_id", "attachments", ["file_id", "space_id"])
