"""The queue of pushes.

The log of live events is written in the transaction of each message, so it is the durable beginning of the queue, and a
post costs nothing more. A cursor for each space says how far the log was read. One transaction moves it and inserts the
pushes; of several nodes that read the same events, one moves it. So each browser gets each message once.

A push waits a moment, in which the person may read the message. A claim sets `due_at` to the end of the lease.
"""

from __future__ import annotations

from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.clock import Millis
from majlis.entities.preferences import preferences_of
from majlis.live.log import read_events
from majlis.push.wanted import is_quiet, is_wanted
from majlis.store.tables import (
    entities,
    members,
    messages,
    preferences,
    push_cursors,
    push_subscriptions,
    pushes,
    spaces,
    tokens,
)
from majlis.store.transactions import Dialect, Tx

# Older messages are not pushed, for example after the server was down.
RECENT_MILLIS = 10 * 60_000
WAIT_MILLIS = 3_000
# Longer than an attempt may take.
LEASE_MILLIS = 60_000
KEPT_MILLIS = 3_600_000
MAX_ATTEMPTS = 5
_EVENTS_AT_ONCE = 500
_PLACES_AT_ONCE = 50
_BATCH = 1000

_subs, _queue = push_subscriptions.c, pushes.c
_ANY = sa.select(_subs.id).limit(1)
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
_valid = sa.or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > sa.bindparam("now", type_=sa.BigInteger))
_SIGNED_IN = sa.exists().where(tokens.c.id == _subs.token_id, tokens.c.ended_at.is_(None), _valid)
_person, _sender = entities.alias("person"), entities.alias("sender")
_DUE = (
    sa.select(
        pushes,
        push_subscriptions,
        messages.c.space_id,
        messages.c.text,
        messages.c.files,
        _sender.c.name.label("sender_name"),
        spaces.c.name.label("space_name"),
        spaces.c.direct_key,
        _person.c.role.in_(("owner", "admin")).label("by_admin"),
        _person.c.active_until,
        # Not read, not deleted, still signed in and still a member.
        sa.and_(
            members.c.entity_id.is_not(None),
            members.c.seen_seq < messages.c.seq,
            messages.c.deleted_at.is_(None),
            _SIGNED_IN,
        ).label("wanted"),
    )
    .join(push_subscriptions, _subs.id == _queue.subscription_id)
    .join(_person, _person.c.id == _subs.entity_id)
    .join(messages, messages.c.id == _queue.message_id)
    .join(_sender, _sender.c.id == messages.c.sender_id)
    .join(spaces, spaces.c.id == messages.c.space_id)
    .outerjoin(members, sa.and_(members.c.space_id == messages.c.space_id, members.c.entity_id == _subs.entity_id))
    .where(_queue.due_at <= sa.bindparam("now"))
    .order_by(_queue.due_at)
    .limit(sa.bindparam("most"))
    .with_for_update(of=pushes, skip_locked=True)
)
_IS_DUE = sa.select(_queue.message_id).where(_queue.due_at <= sa.bindparam("now", type_=sa.BigInteger)).limit(1)


def has_work(tx: Tx) -> bool:
    """A cheap look, without a lock: most gateways have no subscriptions."""
    if tx.one(_ANY) is None:
        return False
    since = {"since": tx.now - RECENT_MILLIS}
    return tx.one(_IS_DUE, {"now": tx.now}) is not None or tx.one(_NEWS.limit(1), since) is not None


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


def claim_pushes(tx: Tx, most: int) -> list[sa.Row[Any]]:
    """Those to be sent now. Ends those that are not wanted any more. While the person looks at the app, they wait."""
    claimed = []
    for row in tx.all(_DUE, {"now": tx.now, "most": most}):
        if not row.wanted or row.created_at < tx.now - RECENT_MILLIS:
            _set(tx, row, due_at=None)
        elif row.active_until is not None and row.active_until >= tx.now:
            _set(tx, row, due_at=row.active_until + 1)
        else:
            _set(tx, row, due_at=tx.now + LEASE_MILLIS, attempts=row.attempts + 1)
            claimed.append(row)
    return claimed


def settle_push(tx: Tx, row: sa.Row[Any], again: bool) -> None:
    attempt = row.attempts + 1
    later = tx.now + 5_000 * 4 ** (attempt - 1) if again and attempt < MAX_ATTEMPTS else None
    _set(tx, row, due_at=later)


def _set(tx: Tx, row: sa.Row[Any], **values: Any) -> None:
    which = _queue.subscription_id == row.subscription_id, _queue.message_id == row.message_id
    tx.execute(pushes.update().where(*which).values(**values))
