"""When the last backup was made."""

from __future__ import annotations

import sqlalchemy as sa

from majlis.store.tables import gateway as facts
from majlis.store.transactions import Tx

LAST_BACKUP = "last_backup"


def last_backup(tx: Tx) -> int | None:
    """The time in milliseconds. Backups by other programs leave no trace."""
    found = tx.execute(sa.select(facts.c.value).where(facts.c.key == LAST_BACKUP)).scalar_one_or_none()
    return int(found) if found is not None else None
