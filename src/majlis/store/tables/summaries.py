"""Summaries of blocks of messages, and the requests that made them (F3)."""

import sqlalchemy as sa

from majlis.store.tables.columns import key, metadata, moment

# A row without a text is a lease: a node is making the summary, or failed and may try again after `lease_until`.
summaries = sa.Table(
    "summaries",
    metadata,
    key("space_id", sa.ForeignKey("spaces.id"), primary_key=True),
    # The messages 25 * block + 1 to 25 * block + 25.
    sa.Column("block", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("text", sa.Text),
    # The newest message of the space when it was made.
    sa.Column("at_seq", sa.BigInteger),
    sa.Column("model", sa.String(256)),
    moment("created_at"),
    key("lease"),
    moment("lease_until"),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
)

# What they cost: it is the space's.
summary_requests = sa.Table(
    "summary_requests",
    metadata,
    sa.Column("n", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    key("space_id", sa.ForeignKey("spaces.id"), nullable=False),
    sa.Column("model", sa.String(256), nullable=False),
    sa.Column("input_tokens", sa.BigInteger, nullable=False),
    sa.Column("cached_tokens", sa.BigInteger, nullable=False),
    sa.Column("output_tokens", sa.BigInteger, nullable=False),
    sa.Column("cost", sa.Double),
    moment("created_at", nullable=False),
)
sa.Index("ix_summary_requests_created_at", summary_requests.c.created_at)
