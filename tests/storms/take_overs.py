"""How long the runs of a killed process stood still until another process went on with them."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass
from typing import NamedTuple

import asyncpg

_NOTICE_SECONDS = 0.1
_OF_OWNER = "SELECT id, fence FROM runs WHERE status = 'running' AND starts_with(lease_owner, $1)"
_NOW = "SELECT id, status, fence, lease_owner FROM runs WHERE id = ANY($1)"


class TakeOver(NamedTuple):
    seconds: float
    # By a process that could not see that the first one had died.
    elsewhere: bool


@dataclass
class _Orphan:
    fence: int
    owner: str
    since: float


class TakeOvers:
    def __init__(self, database_url: str) -> None:
        self._url = database_url
        self._orphans: dict[str, _Orphan] = {}
        self.seen: list[TakeOver] = []

    async def killed(self, owner: str) -> None:
        """The process with this name in leases has just died."""
        since = time.monotonic()
        with contextlib.suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            db = await asyncpg.connect(self._url)
            try:
                for row in await db.fetch(_OF_OWNER, owner):
                    self._orphans[row["id"]] = _Orphan(row["fence"], owner, since)
            finally:
                await db.close()

    async def watch(self) -> None:
        while True:
            await asyncio.sleep(_NOTICE_SECONDS)
            if not self._orphans:
                continue
            with contextlib.suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
                db = await asyncpg.connect(self._url)
                try:
                    await self._look(db)
                finally:
                    await db.close()

    async def _look(self, db: asyncpg.Connection) -> None:
        while self._orphans:
            for row in await db.fetch(_NOW, list(self._orphans)):
                orphan = self._orphans[row["id"]]
                if row["status"] == "running" and row["fence"] == orphan.fence:
                    continue
                if row["status"] == "queued":
                    # It has killed several workers, so it waits for one that has nothing else (G1).
                    continue
                del self._orphans[row["id"]]
                if row["status"] == "running":
                    elsewhere = row["lease_owner"].partition(".")[0] != orphan.owner.partition(".")[0]
                    self.seen.append(TakeOver(time.monotonic() - orphan.since, elsewhere))
            await asyncio.sleep(_NOTICE_SECONDS)
