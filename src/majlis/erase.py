"""Removes the copies of deleted messages (L2): events, triggers, origins, the journal, stored views and cycles.

Every deletion is a row in `erasures`. One node at a time takes a row, goes through the rows in which a copy can be, in
small transactions, and does so again while runs go on that had begun before the deletion: they may write down what they
were shown. The texts to look for are kept for half a minute at most; what is written later is found by the id.
"""

from __future__ import annotations

import asyncio
import sqlite3
import zlib
from collections.abc import Sequence
from typing import Any

import orjson
import sqlalchemy as sa

from majlis.erase_text import DELETED, Copies
from majlis.outage import Outage
from majlis.spaces.history import SELECT_MESSAGES
from majlis.spaces.shapes import message_json, message_of
from majlis.store import ids
from majlis.store.hot import hot
from majlis.store.sqlite import SqliteDatabase
from majlis.store.tables import cards, cycles, erasures, events, messages, pasts, runs, steps, views
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Database, Tx

_EVERY_SECONDS = 1
# How long a pass that is under way may go on when the server stops.
_GRACE_SECONDS = 5
_AGAIN_MILLIS = 3_000
_RAREST_MILLIS = 3_600_000
# A claim that had read the message before the deletion has committed by then.
_SETTLED_MILLIS = 3_000
_TEXTS_KEPT_MILLIS = 30_000
_BATCH = 100
# A run may have waited for a week before it was shown the message.
_LONGEST_RUN_MILLIS = 15 * 24 * 3_600_000
_DUE = hot(
    sa.select(erasures.c.message_id).where(erasures.c.due_at <= sa.bindparam("now", type_=sa.BigInteger)).limit(1)
)
_MERGE_INDEX = sa.text("INSERT INTO messages_fts (messages_fts) VALUES ('optimize')")


async def erase_forever(db: Database) -> None:
    outage = Outage("removing copies of deleted messages")
    while True:
        await asyncio.sleep(_EVERY_SECONDS)
        working = asyncio.ensure_future(_erase_due(db, outage))
        try:
            await asyncio.shield(working)
        except asyncio.CancelledError:
            # A statement that is cut off leaves its connection behind.
            await asyncio.wait([working], timeout=_GRACE_SECONDS)
            working.cancel()
            raise


async def _erase_due(db: Database, outage: Outage) -> None:
    with outage.noted():
        while await erase_next(db):
            pass


async def erase_next(db: Database) -> bool:
    """False if nothing is due."""
    if not await db.read(_is_due):
        return False
    job = await db.write(_take)
    if job is not None:
        await erase(db, job)
    return job is not None


async def erase(db: Database, job: sa.Row[Any]) -> None:
    copies = Copies(job.message_id, tuple(job.texts or ()))
    await db.write(_erase_events, job, copies)
    await db.write(_erase_origins, job, copies)
    before: str | None = None
    while True:
        before = await db.write(_erase_runs, job, copies, before)
        if before is None:
            break
    at: tuple[int, str] | None = (job.written_at, "")
    while at is not None:
        at = await db.write(_erase_cycles, job, copies, at)
    await db.write(_finish, job)
    if isinstance(db, SqliteDatabase):
        if job.texts is not None and sqlite3.sqlite_version_info < (3, 42):
            # Without FTS5's `secure-delete`, deleted words stay in the search index until its parts are merged.
            await db.write(lambda tx: tx.execute(_MERGE_INDEX))
        await db.truncate_log()


def _is_due(tx: Tx) -> bool:
    return tx.one(_DUE, {"now": tx.now}) is not None


def _take(tx: Tx) -> sa.Row[Any] | None:
    due = sa.select(erasures).where(erasures.c.due_at <= tx.now).order_by(erasures.c.due_at).limit(1)
    job = tx.one(due.with_for_update(skip_locked=True))
    if job is not None:
        # A run may wait for a week: the longer it takes, the rarer the passes.
        pause = min(max(_AGAIN_MILLIS, (tx.now - job.deleted_at) // 4), _RAREST_MILLIS)
        later = {"due_at": tx.now + pause}
        tx.execute(erasures.update().where(erasures.c.message_id == job.message_id).values(**later))
    return job


def _finish(tx: Tx, job: sa.Row[Any]) -> None:
    """The texts go when no run is left that began before the deletion, the row after one more pass."""
    age = tx.now - job.deleted_at
    if age < _SETTLED_MILLIS:
        return
    which = erasures.c.message_id == job.message_id
    earlier = sa.select(runs.c.id).where(NOT_OVER, runs.c.created_at <= job.deleted_at + _SETTLED_MILLIS).limit(1)
    over = tx.one(earlier) is None
    if over and job.texts is None:
        tx.execute(erasures.delete().where(which))
    elif over or age >= _TEXTS_KEPT_MILLIS:
        tx.execute(erasures.update().where(which).values(texts=None))


def _erase_events(tx: Tx, job: sa.Row[Any], copies: Copies) -> None:
    """The log shows the message as it is now, in all its earlier events, too."""
    row = tx.one(SELECT_MESSAGES.where(messages.c.id == job.message_id))
    now = message_json(row) if row is not None else None
    found = sa.select(events.c.topic, events.c.seq, events.c.data).where(
        events.c.at >= job.written_at, events.c.data.contains(job.message_id, autoescape=True)
    )
    for each in tx.all(found):
        data = copies.without_in_event(each.data, now)
        if data != each.data:
            which = events.c.topic == each.topic, events.c.seq == each.seq
            tx.execute(events.update().where(*which).values(data=data))


def _erase_origins(tx: Tx, job: sa.Row[Any], copies: Copies) -> None:
    """Messages that agents sent elsewhere because of it."""
    named = sa.cast(messages.c.origin, sa.Text).contains(job.message_id, autoescape=True)
    later = messages.c.id >= ids.first_at("msg", job.written_at - _SETTLED_MILLIS)
    for row in tx.all(sa.select(messages.c.n, messages.c.origin).where(later, messages.c.origin.is_not(None), named)):
        tx.execute(messages.update().where(messages.c.n == row.n).values(origin=copies.without(row.origin)))


def _erase_runs(tx: Tx, job: sa.Row[Any], copies: Copies, before: str | None) -> str | None:
    """A batch of runs, newest first. Returns the last one; None after the last batch."""
    older = [runs.c.id < before] if before is not None else []
    columns = [runs.c[name] for name in ("id", "trigger", "wait", "notes", "trigger_space_id", "shown", "created_at")]
    batch = tx.all(sa.select(*columns).where(*older).order_by(runs.c.id.desc()).limit(_BATCH))
    for row in batch:
        _erase_run(tx, row, copies)
    _erase_steps(tx, [row.id for row in batch], job, copies)
    _erase_views(tx, batch, job, copies)
    oldest = job.written_at - _LONGEST_RUN_MILLIS
    return batch[-1].id if len(batch) == _BATCH and batch[-1].created_at >= oldest else None


def _erase_run(tx: Tx, row: sa.Row[Any], copies: Copies) -> None:
    kept = {"trigger": row.trigger, "wait": row.wait, "notes": row.notes}
    clean = {name: copies.without(value) for name, value in kept.items()}
    if clean != kept:
        tx.execute(runs.update().where(runs.c.id == row.id).values(**clean))


def _erase_steps(tx: Tx, run_ids: Sequence[str], job: sa.Row[Any], copies: Copies) -> None:
    """The journal: results that contain the message, and the call that sent or edited it."""
    columns = (steps.c.input, steps.c.output)
    named = [sa.cast(column, sa.Text).contains(job.message_id, autoescape=True) for column in columns]
    found = tx.all(sa.select(steps).where(steps.c.run_id.in_(run_ids), sa.or_(*named)))
    for row in found:
        _keep_step(tx, row, copies.without_in_call(row.name, row.input, row.output), copies.without(row.output))
    posting = [row for row in found if copies.is_sent_by(row.name, row.output)]
    sent = {(row.run_id, row.call_id) for row in posting}
    if posting:
        _erase_drafts(tx, [row.run_id for row in posting], copies)
        _erase_cards(tx, job, copies)
    which = steps.c.run_id.in_({run_id for run_id, _ in sent}), steps.c.kind == "model"
    for row in tx.all(sa.select(steps).where(*which)) if sent else ():
        calls = {call_id for run_id, call_id in sent if run_id == row.run_id and call_id is not None}
        _keep_step(tx, row, row.input, copies.without_in_answer(row.output, calls))


def _erase_drafts(tx: Tx, run_ids: Sequence[str], copies: Copies) -> None:
    """Calls with the same text that were held before it was posted (E8)."""
    tried = steps.c.name == "send_message", steps.c.output["status"].as_string() == "held"
    for row in tx.all(sa.select(steps).where(steps.c.run_id.in_(run_ids), *tried)):
        if row.input.get("text") in copies.texts:
            _keep_step(tx, row, {**row.input, "text": DELETED}, row.output)


def _erase_cards(tx: Tx, job: sa.Row[Any], copies: Copies) -> None:
    """Cards on which people approved the message before it was posted (G5), and their events."""
    asked = (
        sa.select(cards.c.message_id)
        .join(messages, messages.c.sender_id == cards.c.agent_id)
        .where(messages.c.id == job.message_id, cards.c.space_id == job.space_id, cards.c.name == "send_message")
    )
    for row in tx.all(SELECT_MESSAGES.where(messages.c.id.in_(asked))):
        if row.tool["input"].get("text") not in copies.texts:
            continue
        tool = {**row.tool, "input": {**row.tool["input"], "text": DELETED}}
        tx.execute(messages.update().where(messages.c.n == row.n).values(tool=tool))
        now = message_of({**row._mapping, "tool": tool})
        # The event has the time at which its transaction began.
        which = events.c.topic == job.space_id, events.c.at >= row.created_at - _SETTLED_MILLIS
        for each in tx.all(sa.select(events).where(*which, events.c.data.contains(row.id, autoescape=True))):
            data = orjson.loads(each.data)
            if (data.get("message") or {}).get("id") == row.id:
                new = orjson.dumps({**data, "message": now}).decode()
                tx.execute(
                    events.update().where(events.c.topic == each.topic, events.c.seq == each.seq).values(data=new)
                )


def _keep_step(tx: Tx, row: sa.Row[Any], given: Any, output: Any) -> None:
    if (given, output) != (row.input, row.output):
        which = steps.c.run_id == row.run_id, steps.c.n == row.n
        tx.execute(steps.update().where(*which).values(input=given, output=output))


def _erase_views(tx: Tx, batch: Sequence[sa.Row[Any]], job: sa.Row[Any], copies: Copies) -> None:
    """All views of a run that was shown the space: a later one begins with an earlier one (X13)."""
    gone = {row.id for row in batch if job.space_id in (row.trigger_space_id, *((row.shown or {}).get("shown") or ()))}
    others = [row.id for row in batch if row.id not in gone]
    later = views.c.created_at >= job.written_at
    for row in tx.all(sa.select(views.c.run_id, views.c.body).where(views.c.run_id.in_(others), later)):
        if row.run_id not in gone and copies.occur_in(zlib.decompress(row.body).decode()):
            gone.add(row.run_id)
    if gone:
        tx.execute(views.delete().where(views.c.run_id.in_(gone), later))


def _erase_cycles(tx: Tx, job: sa.Row[Any], copies: Copies, after: tuple[int, str]) -> tuple[int, str] | None:
    """What agents with a consciousness remember. Returns the time and the run of the batch's last cycle; None after the
    last batch."""
    place = sa.tuple_(cycles.c.created_at, cycles.c.run_id)
    found = tx.all(
        sa.select(*cycles.c, runs.c.trigger)
        .join(runs, runs.c.id == cycles.c.run_id)
        .where(place > sa.tuple_(sa.literal(after[0], sa.BigInteger), sa.literal(after[1])))
        .order_by(cycles.c.created_at, cycles.c.run_id)
        .limit(_BATCH)
    )
    for row in found:
        kept = {"messages": row.messages, "summary": row.summary}
        clean = copies.without_in_cycle(row.messages, row.summary, row.trigger)
        if clean != kept:
            which = cycles.c.agent_id == row.agent_id, cycles.c.n == row.n
            tx.execute(cycles.update().where(*which).values(**clean))
    if len(found) == _BATCH:
        return found[-1].created_at, found[-1].run_id
    for row in tx.all(sa.select(pasts.c.agent_id, pasts.c.groups).where(pasts.c.updated_at >= job.written_at)):
        groups = copies.without_words(row.groups)
        if groups != row.groups:
            tx.execute(pasts.update().where(pasts.c.agent_id == row.agent_id).values(groups=groups))
    return None
