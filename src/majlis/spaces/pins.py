"""Pinned messages of a space: members who may write pin and unpin them, and agents are shown the newest."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.clock import iso
from majlis.entities.caller import Caller
from majlis.errors import Conflict
from majlis.spaces.access import access_space
from majlis.spaces.damaged_rows import Damaged, read_rows
from majlis.spaces.edit import change, lock_message, require_not_deleted
from majlis.spaces.history import SELECT_MESSAGES
from majlis.spaces.shapes import MessageJson, message_json, message_of
from majlis.store.tables import messages, spaces
from majlis.store.transactions import Tx

MAX_PINS = 50
_PINNED = SELECT_MESSAGES.where(
    messages.c.space_id == sa.bindparam("space_id"), messages.c.pinned_at.is_not(None)
).order_by(messages.c.pinned_at.desc(), messages.c.seq.desc())
_NUMBERS = _PINNED.with_only_columns(messages.c.seq)
_BY_NUMBER = SELECT_MESSAGES.where(
    messages.c.space_id == sa.bindparam("space_id"), messages.c.seq == sa.bindparam("seq")
)
_COUNT = (
    spaces.update()
    .where(spaces.c.id == sa.bindparam("space"))
    .values(pins=spaces.c.pins + sa.bindparam("more", type_=sa.Integer))
)


class PinsJson(TypedDict):
    """The newest pin first."""

    pins: list[MessageJson]


def pin(tx: Tx, caller: Caller, message_id: str) -> MessageJson:
    """Pinning a pinned message changes nothing."""
    space, row = lock_message(tx, caller, message_id, "write")
    require_not_deleted(row)
    if row.kind != "text":
        raise Conflict("not_a_text", "Only text messages can be pinned.")
    if row.pinned_at is not None:
        return message_of(row._mapping)
    if space.pins >= MAX_PINS:
        raise Conflict("too_many_pins", f"A space can have at most {MAX_PINS} pinned messages. Unpin one first.")
    tx.execute(_COUNT, {"space": row.space_id, "more": 1})
    return change(tx, row, pinned_at=tx.now, pinned_by=caller.id)


def unpin(tx: Tx, caller: Caller, message_id: str) -> MessageJson:
    _, row = lock_message(tx, caller, message_id, "write")
    if row.pinned_at is None:
        return message_of(row._mapping)
    return change(tx, row, **unpinned(tx, row))


def unpinned(tx: Tx, row: sa.Row[Any]) -> dict[str, Any]:
    """The columns of a message that is no longer pinned. Its space is locked."""
    if row.pinned_at is not None:
        tx.execute(_COUNT, {"space": row.space_id, "more": -1})
    return {"pinned_at": None, "pinned_by": None}


def list_pins(tx: Tx, caller: Caller, space_id: str) -> PinsJson:
    given = {"space_id": access_space(tx, caller, space_id).id}
    rows = read_rows(tx, space_id, lambda: tx.all(_PINNED, given), _NUMBERS, given, _BY_NUMBER)
    return {"pins": [_pin(row) for row in rows if not isinstance(row, Damaged)]}


def _pin(row: sa.Row[Any]) -> MessageJson:
    return {**message_json(row), "pinnedAt": iso(row.pinned_at), "pinnedBy": row.pinned_by}
