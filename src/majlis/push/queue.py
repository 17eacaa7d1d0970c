"""The queue of pushes, which `fill.py` fills.

A push waits a moment, in which the person may read the message, and longer while they look at the app. So its reasons
are checked again when it is claimed. A claim sets `due_at` to the end of the lease.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from majlis.clock import Millis
from majlis.entities.preferences import preferences_of
from majlis.push.fill import has_news
from majlis.push.subscriptions import drop, drop_signed_out, note_response
from majlis.push.wanted import RECENT_MILLIS, is_quiet, is_wanted
from majlis.store.hot import hot
from majlis.store.tables import entities, members, messages, preferences, push_subscriptions, pushes, spaces, tokens
from majlis.store.transactions import Tx

# Longer than an attempt may take.
PUSH_LEASE_MILLIS = 60_000
KEPT_MILLIS = 3_600_000
MAX_ATTEMPTS = 5
# At once to one person in one process: a member may subscribe endpoints that never respond.
MAX_PER_PERSON = 2
_LOOKED_AT_ONCE = 50
_GONE = (404, 410)

_subs, _queue = push_subscriptions.c, pushes.c
_ANY = hot(sa.select(_subs.id).limit(1))
_valid = sa.or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > sa.bindparam("now", type_=sa.BigInteger))
_SIGNED_IN = sa.exists().where(tokens.c.id == _subs.token_id, tokens.c.ended_at.is_(None), _valid)
_person, _sender = entities.alias("person"), entities.alias("sender")
_DUE = (
    sa.select(
        pushes,
        push_subscriptions,
        messages.c.space_id,
        messages.c.kind,
        messages.c.tool,
        messages.c.mentions,
        messages.c.text,
        messages.c.files,
        _sender.c.name.label("sender_name"),
        spaces.c.name.label("space_name"),
        spaces.c.direct_key,
        _person.c.role.in_(("owner", "admin")).label("by_admin"),
        _person.c.active_until,
        preferences.c.value.label("preferences"),
        # Not read, not deleted, still signed in and still a member.
        sa.and_(
            members.c.entity_id.is_not(None),
            members.c.seen_seq < messages.c.seq,
            messages.c.deleted_at.is_(None),
            _SIGNED_IN,
        ).label("may_get"),
    )
    .join(push_subscriptions, _subs.id == _queue.subscription_id)
    .join(_person, _person.c.id == _subs.entity_id)
    .join(messages, messages.c.id == _queue.message_id)
    .join(_sender, _sender.c.id == messages.c.sender_id)
    .join(spaces, spaces.c.id == messages.c.space_id)
    .outerjoin(members, sa.and_(members.c.space_id == messages.c.space_id, members.c.entity_id == _subs.entity_id))
    .outerjoin(preferences, preferences.c.entity_id == _subs.entity_id)
    .where(_queue.due_at <= sa.bindparam("now"), _subs.entity_id.not_in(sa.bindparam("busy", expanding=True)))
    .order_by(_queue.due_at)
    .limit(_LOOKED_AT_ONCE)
    .with_for_update(of=pushes, skip_locked=True)
)
_IS_DUE = hot(sa.select(_queue.message_id).where(_queue.due_at <= sa.bindparam("now", type_=sa.BigInteger)).limit(1))


def has_work(tx: Tx) -> bool:
    """A cheap look, without a lock: most gateways have no subscriptions."""
    return tx.one(_ANY) is not None and (is_due(tx) or has_news(tx))


def is_due(tx: Tx) -> bool:
    return tx.one(_IS_DUE, {"now": tx.now}) is not None


def claim_pushes(tx: Tx, sending: Mapping[str, int], most: int) -> tuple[list[sa.Row[Any]], bool]:
    """Returns the pushes to send now, and whether more may be due. Ends those that are not wanted any more. While the
    person looks at the app, or the push service does not respond, they wait. `sending` counts those under way per
    person."""
    counts: Counter[str] = Counter(sending)
    claimed: list[sa.Row[Any]] = []
    busy = sorted(person for person, count in counts.items() if count >= MAX_PER_PERSON)
    found = tx.all(_DUE, {"now": tx.now, "busy": busy})
    for row in found:
        if row.created_at < tx.now - RECENT_MILLIS or not _is_wanted(row, tx.now):
            _set(tx, row, due_at=None)
        elif (held_until := max((row.active_until or -1) + 1, row.retry_at or 0)) > tx.now:
            _set(tx, row, due_at=held_until)
        elif len(claimed) < most and counts[row.entity_id] < MAX_PER_PERSON:
            _set(tx, row, due_at=tx.now + PUSH_LEASE_MILLIS, attempts=row.attempts + 1)
            counts[row.entity_id] += 1
            claimed.append(row)
    return claimed, bool(found)


def _is_wanted(row: sa.Row[Any], now: Millis) -> bool:
    if not row.may_get:
        return False
    chosen = preferences_of(row.preferences)
    if is_quiet(chosen.quiet, now, chosen.time_zone or row.time_zone):
        return False
    return is_wanted(chosen, row, row.entity_id, row.direct_key is not None)


def settle_push(tx: Tx, row: sa.Row[Any], status: int | None) -> None:
    """`status` is None if the push service did not respond."""
    if status in _GONE:
        drop(tx, row.subscription_id)
        return
    note_response(tx, row.subscription_id, status is not None)
    attempt = row.attempts + 1
    again = attempt < MAX_ATTEMPTS and (status is None or status == 429 or status >= 500)
    _set(tx, row, due_at=tx.now + 5_000 * 4 ** (attempt - 1) if again else None)


def clean(tx: Tx) -> None:
    drop_signed_out(tx)
    tx.execute(pushes.delete().where(_queue.created_at < tx.now - KEPT_MILLIS))


def _set(tx: Tx, row: sa.Row[Any], **values: Any) -> None:
    which = _queue.subscription_id == row.subscription_id, _queue.message_id == row.message_id
    tx.execute(pushes.update().where(*which).values(**values))
