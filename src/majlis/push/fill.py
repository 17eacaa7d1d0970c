"""Fills the queue of pushes from the log of live events.

The log is written in the transaction of each message, so it is the durable beginning of the queue, and a post costs
nothing more. A cursor for each space says how far the log was read. One transaction moves it and inserts the pushes; of
several nodes that read the same events, one moves it. So each browser gets each message once.
"""

from __future__ import annotations

from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.clock import Millis
from majlis.entities.preferences import preferences_of
from majlis.live.log import read_events
from majlis.push.wanted import RECENT_MILLIS, is_quiet, is_wanted
from majlis.store.tables import members, messages, preferences, push_cursors, push_subscriptions, pushes, spaces
from majlis.store.transactions import Dialect, Tx

WAIT_MILLIS = 3_000
KEPT_MILLIS = 3_600_000
_EVENTS_AT_ONCE = 500
_PLACES_AT_ONCE = 50

_subs, _queue = push_subscriptions.c, pushes.c
_SUBSCRIBED = sa.exists().where(members.c.space_id == spaces.c.id, members.c.entity_id == _subs.entity_id)
_NEWS = (
    sa.select(spaces.c.id, spaces.c.event_seq, spaces.c.direct_key, push_cursors.c.seq)
    .outerjoin(push_cursors, push_cursors.c.space_id == spaces.c.id)
    .where(
        spaces.c.deleted_at.is_(None),
        spaces.c.event_at >= sa.bindparam("since", type_=sa.BigInteger),
        sa.or_(push_cursors.c.seq.is_(None), push_cursors.c.seq < spaces.c.event_seq),
        _SUBSCRIBED,
    )
    .order_by(spaces.c.id)
    .limit(_PLACES_AT_ONCE)
)
_BROWSERS = (
    sa.select(push_subscriptions, preferences.c.value)
    .join(members, members.c.entity_id == _subs.entity_id)
    .outerjoin(preferences, preferences.c.entity_id == _subs.entity_id)
    .where(members.c.space_id == sa.bindparam("space"))
)
_BEGIN: dict[Dialect, Any] = {
    "sqlite": sqlite.insert(push_cursors).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(push_cursors).on_conflict_do_nothing(),
}
_INSERT: dict[Dialect, Any] = {
    "sqlite": sqlite.insert(pushes).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(pushes).on_conflict_do_nothing(),
}


def has_news(tx: Tx) -> bool:
    return tx.one(_NEWS.limit(1), {"since": tx.now - RECENT_MILLIS}) is not None


def fill_queue(tx: Tx) -> None:
    for place in tx.all(_NEWS, {"since": tx.now - RECENT_MILLIS}):
        before = place.seq
        if before is None:
            before = max(0, place.event_seq - _EVENTS_AT_ONCE)
            tx.execute(_BEGIN[tx.dialect], {"space_id": place.id, "seq": before})
        until = min(place.event_seq, before + _EVENTS_AT_ONCE)
        moved = push_cursors.update().where(push_cursors.c.space_id == place.id, push_cursors.c.seq == before)
        if tx.execute(moved.values(seq=until)).rowcount:
            _fill(tx, place, before, until)
    tx.execute(pushes.delete().where(_queue.created_at < tx.now - KEPT_MILLIS))


def _fill(tx: Tx, place: sa.Row[Any], before: int, until: int) -> None:
    happened = [event for event in read_events(tx, place.id, before, until) if event.type == "space.message"]
    named = {orjson.loads(event.data)["message"]["id"] for event in happened if event.at >= tx.now - RECENT_MILLIS}
    which = messages.c.id.in_(named), messages.c.created_at >= tx.now - RECENT_MILLIS, messages.c.deleted_at.is_(None)
    posted = tx.all(sa.select(messages).where(*which)) if named else []
    if not posted:
        return
    rows = [
        {"subscription_id": browser.id, "message_id": message.id, "due_at": tx.now + WAIT_MILLIS, "created_at": tx.now}
        for browser in tx.all(_BROWSERS, {"space": place.id})
        for message in posted
        if _is_for(browser, message, place.direct_key is not None, tx.now)
    ]
    if rows:
        tx.execute(_INSERT[tx.dialect], rows)


def _is_for(browser: sa.Row[Any], message: sa.Row[Any], direct: bool, now: Millis) -> bool:
    if message.sender_id == browser.entity_id or message.created_at < browser.created_at:
        return False
    chosen = preferences_of(browser.value)
    if is_quiet(chosen.quiet, now, chosen.time_zone or browser.time_zone):
        return False
    return is_wanted(chosen, message, browser.entity_id, direct)
