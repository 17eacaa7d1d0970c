"""Deletes old rows in small transactions: events, ended tokens, deleted spaces, requests to models, and by settings
the history of runs (retention.py)."""

from __future__ import annotations

import asyncio

import sqlalchemy as sa

from majlis.files.reader import derived_names
from majlis.files.store import FileStore, delete_stale
from majlis.outage import Outage
from majlis.retention import delete_old
from majlis.settings import Settings
from majlis.spaces.attachments import delete_unused, drop_files, forget_blobs, unused_blobs
from majlis.store.tables import (
    ask_answers,
    asks,
    cards,
    events,
    members,
    messages,
    phases,
    spaces,
    summaries,
    tokens,
    turns,
    versions,
    views,
    webhook_deliveries,
)
from majlis.store.tables.columns import word
from majlis.store.transactions import Database, Tx

_EVERY_SECONDS = 600
# Later, so that it does not slow down the start.
_FIRST_AFTER_SECONDS = 60
_BATCH = 500
_SPACES = 20
_TOKENS_KEPT_MILLIS = 7 * 24 * 3_600_000
_DELIVERIES_KEPT_MILLIS = 7 * 24 * 3_600_000


async def clean_forever(db: Database, settings: Settings, store: FileStore) -> None:
    outage = Outage("deleting old rows")
    await asyncio.sleep(_FIRST_AFTER_SECONDS)
    while True:
        with outage.noted():
            await clean(db, settings)
            await collect_files(db, store)
            await delete_old(db, settings)
        await asyncio.sleep(_EVERY_SECONDS)


async def clean(db: Database, settings: Settings) -> int:
    """The number of deleted rows."""
    events_kept = settings.events_kept_hours * 3_600_000
    deleted = 0
    for delete, kept_millis in (
        (delete_old_events, events_kept),
        (delete_ended_tokens, _TOKENS_KEPT_MILLIS),
        (delete_messages_of_deleted_spaces, events_kept),
        (delete_old_views, settings.views_kept_days * 24 * 3_600_000),
        (delete_ended_webhook_deliveries, _DELIVERIES_KEPT_MILLIS),
    ):
        while count := await db.write(delete, kept_millis):
            deleted += count
    return deleted


async def collect_files(db: Database, store: FileStore) -> None:
    """Deletes uploads that no message carries, and the bytes that no file uses any more."""
    while await db.write(delete_unused):
        pass
    while names := await db.write(unused_blobs):
        for name in names:
            for each in (name, *derived_names(name)):
                await store.delete(each)
        await db.write(forget_blobs, names)
    await asyncio.to_thread(delete_stale, store.spool)


def delete_old_events(tx: Tx, kept_millis: int) -> int:
    """Keeps events that a webhook still has to send."""
    queued = sa.exists().where(
        webhook_deliveries.c.space_id == events.c.topic,
        webhook_deliveries.c.seq == events.c.seq,
        webhook_deliveries.c.state == word("pending"),
    )
    old = sa.select(events.c.topic, events.c.seq).where(events.c.at < tx.now - kept_millis, ~queued).limit(_BATCH)
    return tx.execute(events.delete().where(sa.tuple_(events.c.topic, events.c.seq).in_(old))).rowcount


def delete_old_views(tx: Tx, kept_millis: int) -> int:
    old = sa.select(views.c.run_id, views.c.step).where(views.c.created_at < tx.now - kept_millis).limit(_BATCH)
    return tx.execute(views.delete().where(sa.tuple_(views.c.run_id, views.c.step).in_(old))).rowcount


def delete_ended_tokens(tx: Tx, kept_millis: int) -> int:
    before = tx.now - kept_millis
    old = sa.select(tokens.c.id).where(sa.or_(tokens.c.ended_at < before, tokens.c.expires_at < before)).limit(_BATCH)
    return tx.execute(tokens.delete().where(tokens.c.id.in_(old))).rowcount


def delete_ended_webhook_deliveries(tx: Tx, kept_millis: int) -> int:
    old = sa.select(webhook_deliveries.c.id).where(webhook_deliveries.c.ended_at < tx.now - kept_millis).limit(_BATCH)
    return tx.execute(webhook_deliveries.delete().where(webhook_deliveries.c.id.in_(old))).rowcount


def delete_messages_of_deleted_spaces(tx: Tx, kept_millis: int) -> int:
    """The space's own row stays, since runs and exports may refer to it. Its members go last."""
    left = [sa.exists().where(table.c.space_id == spaces.c.id) for table in (messages, members)]
    found = sa.select(spaces.c.id).where(spaces.c.deleted_at < tx.now - kept_millis, sa.or_(*left))
    # The newest first: the rows of emptied spaces stay, and the query would otherwise have to skip them each time.
    found = found.order_by(spaces.c.deleted_at.desc()).limit(_SPACES)
    deleted = [row.id for row in tx.all(found)]
    if not deleted:
        return 0
    old = tx.all(sa.select(messages.c.n, messages.c.id).where(messages.c.space_id.in_(deleted)).limit(_BATCH))
    drop_files(tx, [row.id for row in old])
    count = tx.execute(messages.delete().where(messages.c.n.in_([row.n for row in old]))).rowcount
    if len(old) < _BATCH:
        for table in (versions, summaries, phases, turns, cards, ask_answers, asks, members):
            count += tx.execute(table.delete().where(table.c.space_id.in_(deleted))).rowcount
    return count
