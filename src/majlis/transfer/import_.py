"""Import: a file is read in batches, each batch is one transaction, and what cannot be imported is set aside.

The steps are the same for a rehearsal, which takes them all in one transaction and rolls it back.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa

from majlis.errors import MajlisError
from majlis.store.tables import messages, spaces
from majlis.store.transactions import Database, Tx
from majlis.transfer.checking import Line
from majlis.transfer.ledger import Ledger
from majlis.transfer.owner import ensure_owner, take_over
from majlis.transfer.placeholders import fill_holes
from majlis.transfer.planning import prefer_indexes
from majlis.transfer.file import Source
from majlis.transfer.rejected import Rejected
from majlis.transfer.report import Summary
from majlis.transfer.batch import take_in
from majlis.transfer.notify import Told, resync, tell
from majlis.transfer.verdicts import Verdicts
from majlis.transfer.waits import free_waits

Steps = Generator[Callable[[Tx], Any], Any, None]


async def import_file(
    db: Database, source: Source, rejected: Rejected, owner_name: str, dry_run: bool = False
) -> Summary:
    """`owner_name` is for a database that has no owner yet."""
    summary = Summary(source.scope, dry_run)
    steps = _steps(source, Ledger(summary, rejected), owner_name)
    await (_rehearse if dry_run else _perform)(db, steps)
    return summary


async def _perform(db: Database, steps: Steps) -> None:
    try:
        work = next(steps)
        while True:
            work = steps.send(await db.write(work))
    except StopIteration:
        return


async def _rehearse(db: Database, steps: Steps) -> None:
    try:
        await db.write(_undone, steps)
    except _Rehearsed:
        return


class _Rehearsed(Exception):
    """Raised at the end of a rehearsal, so that its transaction is rolled back."""


def _undone(tx: Tx, steps: Steps) -> None:
    try:
        work = next(steps)
        while True:
            work = steps.send(work(tx))
    except StopIteration:
        raise _Rehearsed from None
    except sa.exc.DBAPIError as error:
        # Not to be tried again by the database: half of the file has been read by now.
        raise MajlisError("database_failed", f"The rehearsal failed: {error.orig}. Nothing was changed.") from None


def _steps(source: Source, ledger: Ledger, owner_name: str) -> Steps:
    """Each step is the work of one transaction; what it returns comes back before the next one is asked for."""
    told = Told()
    yield partial(ensure_owner, name=owner_name)
    for batch in source.batches():
        lines = ledger.read(batch)
        verdicts, told = yield partial(_import_batch, lines=lines, ledger=ledger, told=told)
        ledger.settle(lines, verdicts)
    if ledger.complete:
        # Of a file that was cut off the rest may still come, and the questions with it.
        yield free_waits
    for space_id in sorted(ledger.spaces):
        filled, missing = yield partial(_finish_space, space_id=space_id, ledger=ledger, told=told)
        ledger.summary.placeholders += filled
        if missing:
            ledger.summary.notes.append(f"{missing:,} messages of {space_id} are missing; their numbers stay free.")
    ledger.close()


def _import_batch(tx: Tx, lines: Sequence[Line], ledger: Ledger, told: Told) -> tuple[Verdicts, Told]:
    prefer_indexes(tx)
    verdicts = take_over(tx, lines, ledger.asides) if ledger.summary.scope == "gateway" else {}
    verdicts |= take_in(tx, [line for line in lines if line.raw.number not in verdicts], ledger.asides)
    return verdicts, tell(tx, lines, verdicts, told)


def _finish_space(tx: Tx, space_id: str, ledger: Ledger, told: Told) -> tuple[int, int]:
    """How many messages got a placeholder, and how many are missing for good."""
    prefer_indexes(tx)
    space = tx.one(sa.select(spaces).where(spaces.c.id == space_id).with_for_update())
    if space is None or space.deleted_at is not None:
        return 0, 0
    # Nothing is filled in from a file that was cut off: the rest of it may still come.
    filled, missing = fill_holes(tx, space, ledger.senders) if ledger.complete else (0, 0)
    _keep_liveliness(tx, space)
    if space_id in told.again or (filled and space_id not in told.born):
        resync(tx, space_id)
    return filled, missing


def _keep_liveliness(tx: Tx, space: sa.Row[Any]) -> None:
    """People's lists have the liveliest space first: one that moves in, and in which nothing has happened since, is as
    lively as its newest message."""
    if space.event_seq > 0:
        return
    newest = sa.select(messages.c.created_at).where(messages.c.space_id == space.id, messages.c.seq == space.head_seq)
    at = min(tx.execute(newest).scalar_one_or_none() or 0, tx.now)
    if at > space.event_at:
        tx.execute(spaces.update().where(spaces.c.id == space.id).values(event_at=at))
