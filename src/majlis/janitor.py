"""Deletes old rows in small transactions: events, ended tokens, deleted spaces, and requests to models."""

from __future__ import annotations

import asyncio

import sqlalchemy as sa
import structlog

from majlis.settings import Settings
from majlis.store.tables import cards, events, members, messages, phases, spaces, tokens, turns, views
from majlis.store.transactions import Database, Tx

_EVERY_SECONDS = 600
# Later, so that it does not slow down the start.
_FIRST_AFTER_SECONDS = 60
_BATCH = 500
_TOKENS_KEPT_MILLIS = 7 * 24 * 3_600_000
_logger = structlog.get_logger(__name__)


async def clean_forever(db: Database, settings: Settings) -> None:
    await asyncio.sleep(_FIRST_AFTER_SECONDS)
    while True:
        try:
            await clean(db, settings)
        except Exception as error:
            _logger.warning("deleting old rows failed; trying again later", error=str(error))
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
    ):
        while count := await db.write(delete, kept_millis):
            deleted += count
    return deleted


def delete_old_events(tx: Tx, kept_millis: int) -> int:
    old = sa.select(events.c.topic, events.c.seq).where(events.c.at < tx.now - kept_millis).limit(_BATCH)
    return tx.execute(events.delete().where(sa.tuple_(events.c.topic, events.c.seq).in_(old))).rowcount


def delete_old_views(tx: Tx, kept_millis: int) -> int:
    old = sa.select(views.c.run_id, views.c.step).where(views.c.created_at < tx.now - kept_millis).limit(_BATCH)
    return tx.execute(views.delete().where(sa.tuple_(views.c.run_id, views.c.step).in_(old))).rowcount


def delete_ended_tokens(tx: Tx, kept_millis: int) -> int:
    before = tx.now - kept_millis
    old = sa.select(tokens.c.id).where(sa.or_(tokens.c.ended_at < before, tokens.c.expires_at < before)).limit(_BATCH)
    return tx.execute(tokens.delete().where(tokens.c.id.in_(old))).rowcount


def delete_messages_of_deleted_spaces(tx: Tx, kept_millis: int) -> int:
    """The space's own row stays, since runs and exports may refer to it."""
    deleted = sa.select(spaces.c.id).where(spaces.c.deleted_at < tx.now - kept_millis)
    old = sa.select(messages.c.n).where(messages.c.space_id.in_(deleted)).limit(_BATCH)
    count = tx.execute(messages.delete().where(messages.c.n.in_(old))).rowcount
    for table in (phases, turns, cards, members):
        count += tx.execute(table.delete().where(table.c.space_id.in_(deleted))).rowcount
    return count
