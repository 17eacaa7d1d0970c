"""Sweeps away what has had its time, a little in each transaction: old events, ended tokens, deleted
spaces, what models were shown long ago."""

from __future__ import annotations

import asyncio

import sqlalchemy as sa
import structlog

from majlis.settings import Settings
from majlis.store.tables import cards, events, members, messages, phases, spaces, tokens, turns, views
from majlis.store.transactions import Database, Tx

_EVERY_SECONDS = 600
# A gateway that starts has more urgent things to do.
_FIRST_AFTER_SECONDS = 60
_BATCH = 500
_TOKENS_KEPT_MILLIS = 7 * 24 * 3_600_000
_logger = structlog.get_logger(__name__)


async def sweep_forever(db: Database, settings: Settings) -> None:
    await asyncio.sleep(_FIRST_AFTER_SECONDS)
    while True:
        try:
            await sweep(db, settings)
        except Exception as error:
            _logger.warning("sweeping failed; trying again later", error=str(error))
        await asyncio.sleep(_EVERY_SECONDS)


async def sweep(db: Database, settings: Settings) -> int:
    """How many rows went."""
    kept = settings.events_kept_hours * 3_600_000
    swept = 0
    for work in (trim_events, drop_ended_tokens, drop_messages_of_deleted_spaces):
        while count := await db.write(work, kept):
            swept += count
    while count := await db.write(drop_views, settings.views_kept_days * 24 * 3_600_000):
        swept += count
    return swept


def trim_events(tx: Tx, kept_millis: int) -> int:
    old = sa.select(events.c.topic, events.c.seq).where(events.c.at < tx.now - kept_millis).limit(_BATCH)
    return tx.execute(events.delete().where(sa.tuple_(events.c.topic, events.c.seq).in_(old))).rowcount


def drop_views(tx: Tx, kept_millis: int) -> int:
    old = sa.select(views.c.run_id, views.c.step).where(views.c.created_at < tx.now - kept_millis).limit(_BATCH)
    return tx.execute(views.delete().where(sa.tuple_(views.c.run_id, views.c.step).in_(old))).rowcount


def drop_ended_tokens(tx: Tx, _: int) -> int:
    before = tx.now - _TOKENS_KEPT_MILLIS
    old = sa.select(tokens.c.id).where(sa.or_(tokens.c.ended_at < before, tokens.c.expires_at < before)).limit(_BATCH)
    return tx.execute(tokens.delete().where(tokens.c.id.in_(old))).rowcount


def drop_messages_of_deleted_spaces(tx: Tx, kept_millis: int) -> int:
    """The space's own row stays as a tombstone: runs and exports may still point at it."""
    gone = sa.select(spaces.c.id).where(spaces.c.deleted_at < tx.now - kept_millis)
    old = sa.select(messages.c.n).where(messages.c.space_id.in_(gone)).limit(_BATCH)
    swept = tx.execute(messages.delete().where(messages.c.n.in_(old))).rowcount
    for table in (phases, turns, cards, members):
        swept += tx.execute(table.delete().where(table.c.space_id.in_(gone))).rowcount
    return swept
