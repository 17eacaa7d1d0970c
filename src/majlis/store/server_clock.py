"""Follows the clock of the database server, so that the times of all nodes agree."""

from __future__ import annotations

import asyncio

import structlog

from majlis import clock
from majlis.store.transactions import Database

_EVERY_SECONDS = 10.0
_logger = structlog.get_logger(__name__)


async def follow_server_clock(db: Database) -> None:
    if db.dialect == "sqlite":
        return
    if moved := await clock.follow(db.server_time):
        _logger.warning("using the database server's clock, this machine's is wrong", seconds=round(moved / 1000, 1))


async def follow_server_clock_forever(db: Database) -> None:
    while db.dialect == "postgresql":
        await asyncio.sleep(_EVERY_SECONDS)
        try:
            await follow_server_clock(db)
        except Exception as error:
            # An outage is logged where it matters. Meanwhile the clock runs on.
            _logger.debug("the database server's clock cannot be read", error=str(error))
