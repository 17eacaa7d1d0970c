"""The queue of outgoing webhooks.

The log of live events is written in the transaction of each change, so it is the durable beginning of the queue: a post
costs nothing more, and nothing is lost in a crash. For each webhook and space a cursor says how far the log was read.
One transaction moves it and inserts the deliveries; of several nodes that read the same events, one moves it.

A claim sets `due_at` to the end of the lease. A node that dies loses it, and another one sends again, with the same id.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

import sqlalchemy as sa
import structlog
from sqlalchemy.dialects import postgresql, sqlite

from majlis.hosts import parse_target
from majlis.live.log import read_events
from majlis.spaces.post import post_notice
from majlis.store import ids
from majlis.store.hot import hot
from majlis.store.tables import (
    entities,
    events,
    members,
    outgoing_webhooks,
    spaces,
    webhook_cursors,
    webhook_deliveries,
)
from majlis.store.tables.columns import word, words
from majlis.store.transactions import Dialect, Tx

DAY_MILLIS = 24 * 3_600_000
# Longer than an attempt may take.
WEBHOOK_LEASE_MILLIS = 60_000
_BACK_OFF_SECONDS = (5, 30, 120, 600, 1800, 3600, 7200)
# More than the longest pause between two tries of an agent's event.
_FORGOTTEN_MILLIS = 2 * 3_600_000
_EVENTS_AT_ONCE = 500
_PLACES_AT_ONCE = 50
_logger = structlog.get_logger(__name__)
Reason = Literal["failing", "gone", "creator_left"]

_hooks, _queue = outgoing_webhooks.c, webhook_deliveries.c
_ENABLED = _hooks.disabled_at.is_(None)
MAY_READ = sa.exists().where(
    entities.c.id == _hooks.creator_id,
    entities.c.deleted_at.is_(None),
    sa.or_(
        sa.and_(_hooks.space_id.is_(None), entities.c.role.in_(words("owner", "admin"))),
        sa.exists().where(members.c.space_id == _hooks.space_id, members.c.entity_id == _hooks.creator_id),
    ),
)
_NEWS = (
    sa.select(
        outgoing_webhooks.c.id,
        outgoing_webhooks.c.events,
        members.c.space_id,
        members.c.joined_at,
        spaces.c.event_seq,
        webhook_cursors.c.seq,
    )
    .select_from(outgoing_webhooks)
    .join(
        members,
        sa.and_(
            members.c.entity_id == _hooks.creator_id,
            sa.or_(_hooks.space_id.is_(None), members.c.space_id == _hooks.space_id),
        ),
    )
    .join(spaces, sa.and_(spaces.c.id == members.c.space_id, spaces.c.deleted_at.is_(None)))
    .outerjoin(
        webhook_cursors,
        sa.and_(webhook_cursors.c.webhook_id == _hooks.id, webhook_cursors.c.space_id == members.c.space_id),
    )
    # Webhooks of outside agents get events of an inbox: webhooks/agent_events.py.
    .where(
        _ENABLED,
        _hooks.agent_id.is_(None),
        sa.or_(webhook_cursors.c.seq.is_(None), webhook_cursors.c.seq < spaces.c.event_seq),
    )
    .order_by(_hooks.id, members.c.space_id)
    .limit(_PLACES_AT_ONCE)
)
_ORPHANS = sa.select(outgoing_webhooks).where(_ENABLED, ~MAY_READ)
_IS_DUE = sa.exists().where(_queue.state == word("pending"), _queue.due_at <= sa.bindparam("now", type_=sa.BigInteger))
_WORK = hot(sa.select(sa.or_(_NEWS.limit(1).exists(), _ORPHANS.exists(), _IS_DUE)))
_ANY = hot(sa.select(_hooks.id).where(_ENABLED).limit(1))
_SINCE_JOINED = sa.select(sa.func.min(events.c.seq)).where(
    events.c.topic == sa.bindparam("space"), events.c.at >= sa.bindparam("at", type_=sa.BigInteger)
)
_MOVE = (
    webhook_cursors.update()
    .where(
        webhook_cursors.c.webhook_id == sa.bindparam("hook"),
        webhook_cursors.c.space_id == sa.bindparam("space"),
        webhook_cursors.c.seq == sa.bindparam("before", type_=sa.BigInteger),
    )
    .values(seq=sa.bindparam("after", type_=sa.BigInteger))
)
_BEGIN: dict[Dialect, Any] = {
    "sqlite": sqlite.insert(webhook_cursors).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(webhook_cursors).on_conflict_do_nothing(),
}
_INSERT: dict[Dialect, Any] = {
    "sqlite": sqlite.insert(webhook_deliveries).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(webhook_deliveries).on_conflict_do_nothing(),
}
_DUE = (
    sa.select(
        webhook_deliveries,
        _hooks.url,
        _hooks.secret,
        _hooks.space_id.label("only_space_id"),
        entities.c.role.in_(words("owner", "admin")).label("by_admin"),
        events.c.data,
        members.c.entity_id.label("member_id"),
    )
    .join(outgoing_webhooks, _hooks.id == _queue.webhook_id)
    .join(entities, entities.c.id == _hooks.creator_id)
    .outerjoin(events, sa.and_(events.c.topic == _queue.space_id, events.c.seq == _queue.seq))
    .outerjoin(members, sa.and_(members.c.space_id == _queue.space_id, members.c.entity_id == _hooks.creator_id))
    .where(
        _queue.state == word("pending"),
        _queue.due_at <= sa.bindparam("now", type_=sa.BigInteger),
        _ENABLED,
        _queue.webhook_id.not_in(sa.bindparam("busy", expanding=True)),
    )
    .order_by(_queue.due_at, _queue.id)
    .limit(sa.bindparam("most"))
    .with_for_update(of=webhook_deliveries, skip_locked=True)
)
_LEASE = (
    webhook_deliveries.update()
    .where(_queue.id == sa.bindparam("delivery"))
    .values(due_at=sa.bindparam("until", type_=sa.BigInteger), attempts=_queue.attempts + 1)
)


def has_work(tx: Tx) -> bool:
    """A cheap look, without a lock: most gateways have no webhooks."""
    return tx.one(_ANY) is not None and bool(tx.execute(_WORK, {"now": tx.now}).scalar_one())


def fill_queue(tx: Tx) -> None:
    """Puts the new events into the queue, and ends webhooks whose creator may no longer read them."""
    for row in tx.all(_ORPHANS):
        disable(tx, row, "creator_left")
    for place in tx.all(_NEWS):
        if place.seq is None:
            _begin(tx, place)
        else:
            _fill(tx, place)


def _begin(tx: Tx, place: sa.Row[Any]) -> None:
    """Follows a space that the creator has joined since, from that moment on."""
    first = tx.execute(_SINCE_JOINED, {"space": place.space_id, "at": place.joined_at}).scalar_one()
    seq = place.event_seq if first is None else first - 1
    tx.execute(_BEGIN[tx.dialect], {"webhook_id": place.id, "space_id": place.space_id, "seq": seq})


def _fill(tx: Tx, place: sa.Row[Any]) -> None:
    until = min(place.event_seq, place.seq + _EVENTS_AT_ONCE)
    given = {"hook": place.id, "space": place.space_id, "before": place.seq, "after": until}
    if tx.execute(_MOVE, given).rowcount == 0:
        return
    happened = read_events(tx, place.space_id, place.seq, until)
    rows = [
        {
            "id": ids.new("whd"),
            "webhook_id": place.id,
            "space_id": place.space_id,
            "seq": event.seq,
            "type": event.type,
            "due_at": tx.now,
            "queued_at": tx.now,
            "created_at": tx.now,
        }
        for event in happened
        if "*" in place.events or event.type in place.events
    ]
    if rows:
        tx.execute(_INSERT[tx.dialect], rows)


def claim_deliveries(tx: Tx, busy: Collection[str], most: int) -> list[sa.Row[Any]]:
    """The deliveries that are due, each with its webhook, its event (None if it is no longer kept), and the creator's
    membership."""
    rows = tx.all(_DUE, {"now": tx.now, "busy": sorted(busy), "most": most})
    if rows:
        tx.execute(_LEASE, [{"delivery": row.id, "until": tx.now + WEBHOOK_LEASE_MILLIS} for row in rows])
    return list(rows)


def settle_delivery(tx: Tx, row: sa.Row[Any], status: int | None, error: str | None, final: bool = False) -> None:
    """Notes the outcome of the attempt. Does nothing if the lease was lost and another node tries."""
    attempt = row.attempts + 1
    delivered = error is None
    over = delivered or final or tx.now - row.queued_at >= DAY_MILLIS
    values = {
        "status": status,
        "error": error[:300] if error else None,
        "state": "delivered" if delivered else "failed" if over else "pending",
        "ended_at": tx.now if over else None,
        "due_at": tx.now + back_off(attempt),
    }
    which = _queue.id == row.id, _queue.attempts == attempt, _queue.state == word("pending")
    if tx.execute(webhook_deliveries.update().where(*which).values(**values)).rowcount:
        note_health(tx, row.webhook_id, delivered, gone=status == 410)


def back_off(attempt: int) -> int:
    """Milliseconds until the next attempt."""
    return 1000 * _BACK_OFF_SECONDS[min(attempt, len(_BACK_OFF_SECONDS)) - 1]


def note_health(tx: Tx, webhook_id: str, delivered: bool, gone: bool) -> None:
    one = _hooks.id == webhook_id
    if delivered:
        healthy = outgoing_webhooks.update().where(one, _hooks.failing_since.is_not(None))
        tx.execute(healthy.values(failing_since=None))
        return
    # An agent's event may leave without a success: its run was canceled, or it was taken over HTTP. So a failure long
    # after the last one is the first of its kind.
    forgotten = sa.and_(_hooks.agent_id.is_not(None), _hooks.failed_at < tx.now - _FORGOTTEN_MILLIS)
    begins = sa.case((sa.or_(_hooks.failing_since.is_(None), forgotten), tx.now), else_=_hooks.failing_since)
    tx.execute(outgoing_webhooks.update().where(one).values(failing_since=begins, failed_at=tx.now))
    hook = tx.one(sa.select(outgoing_webhooks).where(one, _ENABLED))
    if hook is not None and (gone or tx.now - hook.failing_since >= DAY_MILLIS):
        disable(tx, hook, "gone" if gone else "failing")


def disable(tx: Tx, hook: sa.Row[Any], reason: Reason) -> None:
    """Disables the webhook, with a notice in its space. Its queue is not sent."""
    off = outgoing_webhooks.update().where(_hooks.id == hook.id, _ENABLED)
    if tx.execute(off.values(disabled_at=tx.now, reason=reason)).rowcount == 0:
        return
    pending = webhook_deliveries.update().where(_queue.webhook_id == hook.id, _queue.state == word("pending"))
    tx.execute(pending.values(state="failed", error="The webhook was disabled.", ended_at=tx.now))
    if hook.space_id is None:
        # Its events come from an agent or from all spaces of its creator, so no single space gets a notice.
        _logger.warning("a webhook was disabled", webhook=hook.id, reason=reason)
    elif reason != "creator_left":
        host = parse_target(hook.url).authority
        why = "the receiver answered that it is gone" if reason == "gone" else "it has failed for a day"
        text = f"The webhook to {host} was disabled: {why}. An admin can create it again."
        post_notice(tx, hook.space_id, text, once=f"webhook:{hook.id}")
