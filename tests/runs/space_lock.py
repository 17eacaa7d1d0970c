"""A transaction of the test that blocks others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.util import await_only

from majlis.spaces.access import lock_spaces
from majlis.store.transactions import Database, Tx


@asynccontextmanager
async def space_locked(db: Database, space: str) -> AsyncIterator[None]:
    """Writes to this space wait; on SQLite, all writes."""
    holds, goes_on, goes_on_in_thread = asyncio.Event(), asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def hold(tx: Tx) -> None:
        lock_spaces(tx, (space,))
        loop.call_soon_threadsafe(holds.set)
        if tx.dialect == "sqlite":
            goes_on_in_thread.wait()
        else:
            await_only(goes_on.wait())

    holding = asyncio.create_task(db.write(hold))
    await holds.wait()
    try:
        yield
    finally:
        goes_on.set()
        goes_on_in_thread.set()
        await holding
