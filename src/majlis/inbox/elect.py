"""Which agent a message without a mention goes to first in an elected space: the one that its sender last talked with
(E12)."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from majlis.spaces.shapes import MessageJson
from majlis.store.tables import messages
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

# How far back a conversation is looked for: replies in a chain, and messages of the space.
_MOST_REPLIES = 20
_WINDOW = 1000
_MOST_ADDRESSES = 20

_replied_to = messages.alias("replied_to")
_REPLY = sa.select(messages.c.sender_id, messages.c.reply_to).where(messages.c.id == sa.bindparam("message"))
_RECENT = (
    messages.c.space_id == sa.bindparam("space"),
    messages.c.seq < sa.bindparam("seq", type_=sa.BigInteger),
    messages.c.seq >= sa.bindparam("since", type_=sa.BigInteger),
)
_ADDRESSED = (
    sa.select(messages.c.mentions, _replied_to.c.sender_id.label("replied_to"))
    .outerjoin(_replied_to, _replied_to.c.id == messages.c.reply_to)
    .where(
        *_RECENT,
        messages.c.sender_id == sa.bindparam("sender"),
        sa.or_(messages.c.mentions.is_not(None), messages.c.reply_to.is_not(None)),
    )
    .order_by(messages.c.seq.desc())
    .limit(_MOST_ADDRESSES)
)
_ANSWERED = (
    sa.select(messages.c.sender_id)
    .where(
        *_RECENT,
        messages.c.kind == word("text"),
        messages.c.person_id == sa.bindparam("sender"),
        messages.c.sender_id.in_(sa.bindparam("agents", expanding=True)),
    )
    .order_by(messages.c.seq.desc())
    .limit(1)
)


def elect(tx: Tx, message: MessageJson, agents: Collection[str]) -> str | None:
    """One of the `agents`: first by the chain of replies that the message is in, then the agent that the sender last
    mentioned or replied to, then the agent that last answered the sender."""
    if len(agents) == 1:
        return next(iter(agents))
    return _in_reply_chain(tx, message, agents) or _addressed(tx, message, agents) or _answered(tx, message, agents)


def _in_reply_chain(tx: Tx, message: MessageJson, agents: Collection[str]) -> str | None:
    above = message["replyTo"]
    for _ in range(_MOST_REPLIES):
        row = tx.one(_REPLY, {"message": above}) if above is not None else None
        if row is None:
            return None
        if row.sender_id in agents:
            return str(row.sender_id)
        above = row.reply_to
    return None


def _addressed(tx: Tx, message: MessageJson, agents: Collection[str]) -> str | None:
    for row in tx.all(_ADDRESSED, _before(message)):
        for each in (*reversed(row.mentions or ()), row.replied_to):
            if each in agents:
                return str(each)
    return None


def _answered(tx: Tx, message: MessageJson, agents: Collection[str]) -> str | None:
    found: str | None = tx.execute(_ANSWERED, {**_before(message), "agents": sorted(agents)}).scalar_one_or_none()
    return found


def _before(message: MessageJson) -> dict[str, str | int]:
    seq = message["seq"]
    return {"space": message["spaceId"], "sender": message["sender"]["id"], "seq": seq, "since": seq - _WINDOW}
