"""Reads messages: a page of a space, one message, or the message with a client id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.entities.caller import Caller
from majlis.errors import Invalid, NotFound
from majlis.spaces.access import access_space, access_space_at
from majlis.spaces.damaged_rows import Damaged, Unreadable, read_named, read_rows, reading, set_aside_named, sound
from majlis.spaces.shapes import MessageJson, message_json
from majlis.store.hot import hot
from majlis.store.tables import entities, members, messages, spaces
from majlis.store.transactions import Tx

MESSAGE_COLUMNS = (*messages.c, entities.c.name.label("sender_name"), entities.c.type.label("sender_type"))
SELECT_MESSAGES = sa.select(*MESSAGE_COLUMNS).join(entities, entities.c.id == messages.c.sender_id)
# The messages in the spaces of which `entity_id` is a member.
READABLE = (
    SELECT_MESSAGES.join(members, members.c.space_id == messages.c.space_id)
    .join(spaces, spaces.c.id == messages.c.space_id)
    .where(members.c.entity_id == sa.bindparam("entity_id"), spaces.c.deleted_at.is_(None))
)

_IN_SPACE = messages.c.space_id == sa.bindparam("space_id")
_BEFORE = hot(
    SELECT_MESSAGES.where(_IN_SPACE, messages.c.seq < sa.bindparam("seq"))
    .order_by(messages.c.seq.desc())
    .limit(sa.bindparam("limit"))
)
_AFTER = hot(
    SELECT_MESSAGES.where(_IN_SPACE, messages.c.seq > sa.bindparam("seq"))
    .order_by(messages.c.seq)
    .limit(sa.bindparam("limit"))
)
# For a page that contains a damaged message.
_NUMBERS = {page: page.with_only_columns(messages.c.seq) for page in (_BEFORE, _AFTER)}
_BY_NUMBER = SELECT_MESSAGES.where(_IN_SPACE, messages.c.seq == sa.bindparam("seq"))
_NAMED = READABLE.where(messages.c.id.in_(sa.bindparam("ids", expanding=True))).order_by(messages.c.n)
_ONE = READABLE.where(messages.c.id == sa.bindparam("id"))


class MessagePageJson(TypedDict):
    messages: list[MessageJson]
    total: int
    hasMore: bool


def read_page(
    tx: Tx, caller: Caller, space_id: str, limit: int = 50, before: str | None = None, after: str | None = None
) -> MessagePageJson:
    """Oldest first; without a cursor, the newest messages. `hasMore` refers to the direction of paging."""
    if before is not None and after is not None:
        raise Invalid("bad_cursor", "Send before or after, not both.", {"path": "before"})
    cursor = before if before is not None else after
    space = access_space_at(tx, caller, space_id, cursor)
    if cursor is not None and space.cursor_seq is None:
        path = "before" if before is not None else "after"
        raise Invalid("bad_cursor", f"{path} is not a message in this space.", {"path": path})
    rows = _rows(tx, space, limit, forward=after is not None)
    readable = [row for row in rows[:limit] if not isinstance(row, Damaged)]
    return {
        "messages": [message_json(row) for row in readable][:: 1 if after is not None else -1],
        "total": space.head_seq,
        "hasMore": len(rows) > limit,
    }


def _rows(tx: Tx, space: sa.Row[Any], limit: int, forward: bool) -> Sequence[Any]:
    """Leaves out damaged messages (R9)."""
    seq = space.cursor_seq if space.cursor_seq is not None else space.head_seq + 1
    parameters = {"space_id": space.id, "seq": seq, "limit": limit + 1}
    page = _AFTER if forward else _BEFORE
    return read_rows(tx, space.id, lambda: tx.all(page, parameters), _NUMBERS[page], parameters, _BY_NUMBER)


def read_after(tx: Tx, caller: Caller, space_id: str, seq: int, limit: int) -> tuple[list[MessageJson], int]:
    """The messages after this number, oldest first, and the number up to which they were read."""
    access_space(tx, caller, space_id)
    given = {"space_id": space_id, "seq": seq, "limit": limit}
    rows = read_rows(tx, space_id, lambda: tx.all(_AFTER, given), _NUMBERS[_AFTER], given, _BY_NUMBER)
    found = [message_json(row) for row in rows if not isinstance(row, Damaged)]
    return found, rows[-1].seq if rows else seq


def read_by_id(tx: Tx, caller: Caller, message_ids: Sequence[str]) -> list[MessageJson]:
    """The messages in the caller's spaces, oldest first."""
    return [message_json(row) for row in read_named(tx, _NAMED, message_ids, entity_id=caller.id)]


def access_message(tx: Tx, caller: Caller, message_id: str) -> sa.Row[Any]:
    try:
        with reading():
            row = sound(tx.one(_ONE, {"id": message_id, "entity_id": caller.id}))
    except Unreadable as error:
        set_aside_named(tx, message_id, error)
        damaged = f"The message {message_id} is damaged and cannot be read. The server's log says why."
        raise NotFound("damaged_message", damaged) from None
    if row is None:
        raise NotFound("unknown_message", f"There is no message {message_id} in your spaces.")
    return row


def get_message(tx: Tx, caller: Caller, message_id: str) -> MessageJson:
    return message_json(access_message(tx, caller, message_id))


def find_by_client_id(tx: Tx, sender: Caller, space_id: str, client_id: str) -> MessageJson:
    which = messages.c.space_id == space_id, messages.c.sender_id == sender.id, messages.c.client_id == client_id
    return message_json(tx.execute(SELECT_MESSAGES.where(*which)).one())
