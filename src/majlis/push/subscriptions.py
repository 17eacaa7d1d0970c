"""Browsers that people subscribed to push notifications, and whether people look at the app."""

from __future__ import annotations

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.entities.caller import Caller
from majlis.errors import Forbidden, Invalid
from majlis.push.encrypt import encrypt
from majlis.push.keys import decoded
from majlis.push.wanted import RECENT_MILLIS
from majlis.store import ids
from majlis.store.tables import entities, push_subscriptions, pushes, tokens
from majlis.store.transactions import Tx

MAX_BROWSERS = 10
ACTIVE_MILLIS = 60_000
# Grows up to the age at which messages are no longer pushed.
_FIRST_BACK_OFF_MILLIS = 30_000
_subs = push_subscriptions.c


class PushJson(TypedDict):
    # For `applicationServerKey` of the browser.
    publicKey: str
    # How many browsers of the person are subscribed.
    browsers: int


class ActiveJson(TypedDict):
    # Without one, it need not be told.
    browsers: int


def check_keys(p256dh: str, auth: str) -> None:
    try:
        if len(decoded(auth)) != 16:
            raise ValueError
        encrypt(b"", decoded(p256dh), decoded(auth))
    except ValueError:
        problem = "The keys are not those of a push subscription. Send what the browser's PushSubscription has."
        raise Invalid("invalid_request", problem, {"path": "keys"}) from None


def count_browsers(tx: Tx, caller: Caller) -> int:
    require_person(caller)
    mine = sa.select(sa.func.count()).select_from(push_subscriptions).where(_subs.entity_id == caller.id)
    return int(tx.execute(mine).scalar_one())


def subscribe(tx: Tx, caller: Caller, endpoint: str, p256dh: str, auth: str, origin: str, time_zone: str) -> None:
    """A browser that another person had subscribed is theirs no longer."""
    require_person(caller)
    # Pushes contain messages.
    caller.require_scope("read")
    tx.execute(sa.select(entities.c.id).where(entities.c.id == caller.id).with_for_update(key_share=True))
    values = {"p256dh": p256dh, "auth": auth, "origin": origin, "time_zone": time_zone, "token_id": caller.token_id}
    same = _subs.endpoint == endpoint, _subs.entity_id == caller.id
    if tx.execute(push_subscriptions.update().where(*same).values(**values)).rowcount:
        return
    _end(tx, _subs.endpoint == endpoint)
    oldest = sa.select(_subs.id).where(_subs.entity_id == caller.id).order_by(_subs.created_at.desc(), _subs.id.desc())
    _end(tx, _subs.id.in_([row.id for row in tx.all(oldest.offset(MAX_BROWSERS - 1).limit(1000))]))
    row = {"id": ids.new("psh"), "entity_id": caller.id, "endpoint": endpoint, "created_at": tx.now}
    tx.execute(push_subscriptions.insert(), {**row, **values})


def unsubscribe(tx: Tx, caller: Caller, endpoint: str) -> None:
    require_person(caller)
    _end(tx, sa.and_(_subs.endpoint == endpoint, _subs.entity_id == caller.id))


def drop(tx: Tx, subscription_id: str) -> None:
    """The push service says that it is gone."""
    _end(tx, _subs.id == subscription_id)


def note_response(tx: Tx, subscription_id: str, responded: bool) -> None:
    """Each time that the push service does not respond, nothing is sent to it for longer. If several attempts fail at
    the same time, the first counts."""
    which = _subs.id == subscription_id
    if responded:
        healthy = push_subscriptions.update().where(which, _subs.failures > 0)
        tx.execute(healthy.values(failures=0, retry_at=None))
        return
    sent_to = which, sa.or_(_subs.retry_at.is_(None), _subs.retry_at <= tx.now)
    row = tx.one(sa.select(_subs.failures).where(*sent_to).with_for_update())
    if row is not None:
        back_off = min(_FIRST_BACK_OFF_MILLIS * 4**row.failures, RECENT_MILLIS)
        later = push_subscriptions.update().where(which)
        tx.execute(later.values(failures=_subs.failures + 1, retry_at=tx.now + back_off))


def drop_signed_out(tx: Tx) -> None:
    """Removes the subscriptions whose session has ended."""
    valid = sa.or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > tx.now)
    _end(tx, ~sa.exists().where(tokens.c.id == _subs.token_id, tokens.c.ended_at.is_(None), valid))


def set_active(tx: Tx, caller: Caller, active: bool) -> ActiveJson:
    browsers = count_browsers(tx, caller)
    if browsers:
        until = tx.now + ACTIVE_MILLIS if active else None
        tx.execute(entities.update().where(entities.c.id == caller.id).values(active_until=until))
    return {"browsers": browsers}


def require_person(caller: Caller) -> None:
    if caller.type != "human":
        raise Forbidden("not_allowed", "Only people get push notifications.")


def _end(tx: Tx, which: sa.ColumnElement[bool]) -> None:
    gone = [row.id for row in tx.all(sa.select(_subs.id).where(which))]
    if gone:
        tx.execute(pushes.delete().where(pushes.c.subscription_id.in_(gone)))
        tx.execute(push_subscriptions.delete().where(_subs.id.in_(gone)))
