"""Is this machine's clock right? Compared with the database server's, and with what was written last."""

from __future__ import annotations

from collections.abc import AsyncIterator

import sqlalchemy as sa

from majlis import clock
from majlis.cli.checks.finding import Finding, guarded, ok, problem, warning
from majlis.store.tables import events, messages
from majlis.store.transactions import Database, Tx

_NOTICEABLE = 1_000
# More than this, and the replay of missed events is no longer sure (majlis.live.cursor).
_HARMFUL = 15_000
_SET_IT = "Set the clock; on most systems: timedatectl set-ntp true."


async def check(db: Database) -> AsyncIterator[Finding]:
    if db.dialect == "postgresql":
        yield await guarded("clock", "The clocks cannot be compared", _beside_the_server(db), _SET_IT)
    first = "Run `majlis migrate` first."
    yield await guarded("clock", "The newest entry cannot be read", _beside_the_newest(db), first)


async def _beside_the_server(db: Database) -> Finding:
    before = clock.now()
    there = int(await db.read(_server_now))
    apart = abs(there - (before + clock.now()) // 2)
    if apart < _NOTICEABLE:
        return ok("clock", f"This clock and the database server's are {apart} ms apart.")
    message = f"This clock and the database server's are {apart / 1000:.1f} s apart."
    return problem("clock", message, _SET_IT) if apart >= _HARMFUL else warning("clock", message, _SET_IT)


async def _beside_the_newest(db: Database) -> Finding:
    newest = await db.read(_newest)
    if newest is None:
        return ok("clock", "Nothing has been written yet to compare the time with.")
    ahead = newest - clock.now()
    if ahead < _NOTICEABLE:
        return ok("clock", "Nothing in the database is from the future.")
    return problem(
        "clock",
        f"The newest entry is from {clock.iso(newest)}, {ahead // 1000} s in the future: "
        "this clock is behind, or was ahead when that was written.",
        _SET_IT,
    )


def _server_now(tx: Tx) -> int:
    return int(tx.execute(sa.text("SELECT extract(epoch FROM clock_timestamp()) * 1000")).scalar_one())


def _newest(tx: Tx) -> int | None:
    said = tx.execute(sa.select(messages.c.created_at).order_by(messages.c.n.desc()).limit(1)).scalar_one_or_none()
    logged = tx.execute(sa.select(sa.func.max(events.c.at))).scalar_one_or_none()
    return max((at for at in (said, logged) if at is not None), default=None)
