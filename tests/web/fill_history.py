"""Writes a long history straight into the database of a gateway that may be running: 10,000 messages in a second.

Run `python -m tests.web.fill_history DATA_DIR SPACE_ID SENDER_ID COUNT`.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import sqlalchemy as sa

from majlis import clock
from majlis.store import ids
from majlis.store.open import open_database
from majlis.store.tables import messages, spaces
from majlis.store.transactions import Tx

_DAY = 86_400_000
_BATCH = 500


def text(n: int) -> str:
    """Texts of different heights: rows that are not measured yet must not make the page jump."""
    more = "\n\n- a\n- b" if n % 5 == 0 else ""
    return f"line {n}. {'It goes on and on. ' * (n % 17)}{more}"


def fill(tx: Tx, space_id: str, sender_id: str, count: int) -> None:
    """Spread over the last ten days."""
    first: int = tx.execute(sa.select(spaces.c.head_seq).where(spaces.c.id == space_id)).scalar_one()
    rows = [_row(tx.now, space_id, sender_id, first, n, count) for n in range(count)]
    for start in range(0, count, _BATCH):
        tx.execute(messages.insert(), rows[start : start + _BATCH])
    tx.execute(spaces.update().where(spaces.c.id == space_id).values(head_seq=first + count))


def _row(now: int, space_id: str, sender_id: str, first: int, n: int, count: int) -> dict[str, object]:
    message_id = ids.new("msg")
    return {
        "id": message_id,
        "space_id": space_id,
        "seq": first + 1 + n,
        "sender_id": sender_id,
        "kind": "text",
        "text": text(n),
        "chain_depth": 0,
        "caused_by": message_id,
        "created_at": now - (count - n) * (10 * _DAY // count),
    }


async def main(data_dir: str, space_id: str, sender_id: str, count: str) -> None:
    db = open_database(f"sqlite:///{Path(data_dir) / 'majlis.db'}")
    try:
        await db.write(fill, space_id, sender_id, int(count))
    finally:
        await db.close()
    print(clock.iso(clock.now()), flush=True)  # noqa: T201 - the parent process waits for this


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
