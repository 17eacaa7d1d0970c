"""PostgreSQL knows little of tables that are just being filled, and keeps the plan it made when they were empty."""

from __future__ import annotations

import sqlalchemy as sa

from majlis.store.transactions import Tx


def prefer_indexes(tx: Tx) -> None:
    """For this transaction. Every question of a transfer has an index; a scan of the whole table for each page or
    batch would make the time grow with the square of the messages."""
    if tx.dialect == "postgresql":
        tx.execute(sa.text("SET LOCAL enable_seqscan = off"))
