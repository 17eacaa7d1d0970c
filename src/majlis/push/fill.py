"""Fills the queue of pushes from the log of live events.

The log is written in the transaction of each message, so it is the durable beginning of the queue, and a post costs
nothing more. A cursor for each space says how far the log was read. One transaction moves it and inserts the pushes; of
several nodes that read the same events, one moves it. So each browser gets each message once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.entities.preferences import Preferences, preferences_of
from majlis.live.log import read_events
from majlis.push.wanted import RECENT_MILLIS, is_quiet, is_wanted
from majlis.store.tables import events, members, messages, preferences, push_cursors, push_subscriptions, pushes, spaces
from majlis.store.transactions import Dialect, Tx

WAIT_MILLIS = 3_000
_EVENTS_AT_ONCE = 500
_PLACES_AT_ONCE = 50

_subs = push_subscriptions.c
# Not EXISTS, with which SQLite looks at all spaces.
_FOLLOWED = sa.select(members.c.space_id).join(push_subscriptions, _subs.entity_id == members.c.entity_id)
_NEWS = (
    sa.select(spaces.c.id, spaces.c.event_seq, spaces.c.direct_key, push_cursors.c.seq)
    .outerjoin(push_cursors, push_cursors.c.space_id == spaces.c.id)
    .where(
        spaces.c.id > sa.bindparam("after"),
        spaces.c.id.in_(_FOLLOWED),
        spaces.c.deleted_at.is_(None),
        spaces.c.event_at >= sa.bindparam("since", type_=sa.BigInteger),
        sa.or_(push_cursors.c.seq.is_(None), push_cursors.c.seq < spaces.c.event_seq),
    )
    .order_by(spaces.c.id)
    .limit(sa.bindparam("most"))
)
_AT = sa.select(events.c.at).where(
    events.c.topic == sa.bindparam("space"), events.c.seq == sa.bindparam("seq", type_=sa.BigInteger)
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
    return bool(_news(tx, after="", most=1))


def fill_queue(tx: Tx, after: str = "") -> str | None:
    """Reads the new events of the next spaces, by id. Returns the last of these spaces, or None at the end."""
    chosen: dict[str, Preferences] = {}
    found = _news(tx, after, _PLACES_AT_ONCE)
    for place in found:
        before = place.seq
        if before is None:
            before = 0
            tx.execute(_BEGIN[tx.dialect], {"space_id": place.id, "seq": before})
        recent = _last_old(tx, place.id, before, place.event_seq)
        until = min(place.event_seq, recent + _EVENTS_AT_ONCE)
        moved = push_cursors.update().where(push_cursors.c.space_id == place.id, push_cursors.c.seq == before)
        if tx.execute(moved.values(seq=until)).rowcount:
            _fill(tx, place, recent, until, chosen)
    return found[-1].id if len(found) == _PLACES_AT_ONCE else None


def _news(tx: Tx, after: str, most: int) -> Sequence[sa.Row[Any]]:
    return tx.all(_NEWS, {"since": tx.now - RECENT_MILLIS, "after": after, "most": most})


def _last_old(tx: Tx, space_id: str, before: int, newest: int) -> int:
    """Skips events that are too old, if many are unread. Numbers and times ascend together, so it halves the gap."""
    if newest - before <= _EVENTS_AT_ONCE:
        return before
    old, recent = before, newest
    while recent - old > 1:
        middle = (old + recent) // 2
        row = tx.one(_AT, {"space": space_id, "seq": middle})
        # The oldest events may be deleted.
        if row is None or row.at < tx.now - RECENT_MILLIS:
            old = middle
        else:
            recent = middle
    return old


def _fill(tx: Tx, place: sa.Row[Any], before: int, until: int, chosen: dict[str, Preferences]) -> None:
    happened = [event for event in read_events(tx, place.id, before, until) if event.type == "space.message"]
    named = {orjson.loads(event.data)["message"]["id"] for event in happened if event.at >= tx.now - RECENT_MILLIS}
    which = messages.c.id.in_(named), messages.c.created_at >= tx.now - RECENT_MILLIS, messages.c.deleted_at.is_(None)
    posted = tx.all(sa.select(messages).where(*which)) if named else []
    if not posted:
        return
    rows = [
        {"subscription_id": browser.id, "message_id": message.id, "due_at": tx.now + WAIT_MILLIS, "created_at": tx.now}
        for browser in tx.all(_BROWSERS, {"space": place.id})
        for message in _wanted(tx, browser, posted, place.direct_key is not None, chosen)
    ]
    if rows:
        tx.execute(_INSERT[tx.dialect], rows)


def _wanted(
    tx: Tx, browser: sa.Row[Any], posted: Sequence[sa.Row[Any]], direct: bool, chosen: dict[str, Preferences]
) -> list[sa.Row[Any]]:
    """`chosen` keeps the preferences of each person, who may have several browsers and spaces."""
    person_id = browser.entity_id
    if person_id not in chosen:
        chosen[person_id] = preferences_of(browser.value)
    own = chosen[person_id]
    if is_quiet(own.quiet, tx.now, own.time_zone or browser.time_zone):
        return []
    return [
        message
        for message in posted
        if message.sender_id != person_id
        and message.created_at >= browser.created_at
        and is_wanted(own, message, person_id, direct)
    ]
