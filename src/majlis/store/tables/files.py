"""Uploaded files (L4): what they are, which messages carry them, and under which name the store has their bytes."""

import sqlalchemy as sa

from majlis.store.tables.columns import index_where, key, metadata, moment

# The content that the file store has, once per hash.
blobs = sa.Table(
    "blobs",
    metadata,
    # In the file store. Never used for two contents, so that deleting one cannot hit its successor.
    sa.Column("name", sa.String(128), primary_key=True),
    # Null once its deletion has begun: a new upload of the same bytes gets a new name.
    sa.Column("sha256", sa.String(64), unique=True),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    # The store has all of its bytes.
    sa.Column("stored", sa.Boolean, nullable=False),
    # No file uses it; when it may be deleted.
    moment("collect_at"),
)
index_where("ix_blobs_collect_at", blobs.c.collect_at, where=blobs.c.collect_at.is_not(None))

files = sa.Table(
    "files",
    metadata,
    key("id", primary_key=True),
    key("space_id", sa.ForeignKey("spaces.id"), nullable=False),
    key("uploader_id", sa.ForeignKey("entities.id"), nullable=False),
    # On whose behalf an agent's tool made it (G3).
    key("person_id"),
    sa.Column("blob", sa.String(128), sa.ForeignKey("blobs.name"), nullable=False, index=True),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("media_type", sa.String(128), nullable=False),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    sa.Column("width", sa.Integer),
    sa.Column("height", sa.Integer),
    sa.Column("sha256", sa.String(64), nullable=False),
    moment("created_at", nullable=False),
    # No message carries it; when it is deleted.
    moment("collect_at"),
    # Chosen by the uploader, so that a repeated request stores nothing twice.
    sa.Column("upload_key", sa.String(128)),
    sa.CheckConstraint("bytes >= 0", name="bytes"),
    sa.UniqueConstraint("uploader_id", "space_id", "upload_key"),
)
# With the sizes, for quotas.
sa.Index("ix_files_uploader_id", files.c.uploader_id, files.c.bytes)
sa.Index("ix_files_space_id", files.c.space_id, files.c.bytes)
index_where("ix_files_collect_at", files.c.collect_at, where=files.c.collect_at.is_not(None))

attachments = sa.Table(
    "attachments",
    metadata,
    key("message_id", sa.ForeignKey("messages.id"), primary_key=True),
    key("file_id", sa.ForeignKey("files.id"), primary_key=True),
    # The space of the message.
    key("space_id", sa.ForeignKey("spaces.id"), nullable=False),
    # Its place among the files of the message.
    sa.Column("n", sa.Integer, nullable=False),
)
sa.Index("ix_attachments_file_id", attachments.c.file_id, attachments.c.space_id)
# For the files of a space, newest first.
sa.Index("ix_attachments_space_id", attachments.c.space_id, attachments.c.file_id, attachments.c.message_id)
