"""Read positions. They only move forward, in whatever order the requests of several tabs arrive."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.entities.caller import Caller
from majlis.errors import Invalid
from majlis.live import log
from majlis.spaces.access import access_space_at
from majlis.store.hot import hot
from majlis.store.tables import members, messages
from majlis.store.transactions import Tx

_ADVANCE = hot(
    members.update()
    .where(
        members.c.space_id == sa.bindparam("space"),
        members.c.entity_id == sa.bindparam("entity"),
        members.c.seen_seq < sa.bindparam("seq"),
    )
    .values(seen_seq=sa.bindparam("seq"))
)


class ReadJson(TypedDict):
    lastSeenMessageId: str | None
    unreadCount: int


def mark_read(tx: Tx, caller: Caller, space_id: str, last_message_id: str) -> ReadJson:
    """Moves the caller's position to this message, unless it is already past it (C4)."""
    space = access_space_at(tx, caller, space_id, last_message_id)
    if space.cursor_seq is None:
        raise Invalid("unknown_message", "lastMessageId is not a message in this space.", {"path": "lastMessageId"})
    moved = tx.execute(_ADVANCE, {"space": space_id, "entity": caller.id, "seq": space.cursor_seq})
    if moved.rowcount == 0:
        return _position(tx, caller, space)
    position: ReadJson = {"lastSeenMessageId": last_message_id, "unreadCount": space.head_seq - space.cursor_seq}
    data = {"spaceId": space_id, "entityId": caller.id, **position, "lastSeenSeq": space.cursor_seq}
    log.record_for_entity(tx, caller.id, "space.read", data)
    return position


def _position(tx: Tx, caller: Caller, space: sa.Row[Any]) -> ReadJson:
    statement = (
        sa.select(messages.c.id, members.c.seen_seq)
        .select_from(members)
        .outerjoin(messages, sa.and_(messages.c.space_id == members.c.space_id, messages.c.seq == members.c.seen_seq))
        .where(members.c.space_id == space.id, members.c.entity_id == caller.id)
    )
    row = tx.execute(statement).one()
    return {"lastSeenMessageId": row.id, "unreadCount": max(space.head_seq, row.seen_seq) - row.seen_seq}
