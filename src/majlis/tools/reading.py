"""Messages as tools return them to a model: what a timeline line says, as JSON."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.clock import iso
from majlis.runs.acting import Acting
from majlis.spaces.damage import Damaged, read_rows
from majlis.spaces.history import SELECT_MESSAGES
from majlis.store.tables import messages
from majlis.store.transactions import Tx

_BEFORE = (
    SELECT_MESSAGES.where(messages.c.space_id == sa.bindparam("space"), messages.c.seq <= sa.bindparam("seq"))
    .order_by(messages.c.seq.desc())
    .limit(sa.bindparam("limit"))
)
# For a page with damage in it (R9).
_NUMBERS = _BEFORE.with_only_columns(messages.c.seq)
_BY_NUMBER = SELECT_MESSAGES.where(
    messages.c.space_id == sa.bindparam("space_id"), messages.c.seq == sa.bindparam("seq")
)


def newest(tx: Tx, space_id: str, seq: int, limit: int) -> list[dict[str, Any]]:
    """The last `limit` messages up to number `seq`, oldest first."""
    given = {"space": space_id, "seq": seq, "limit": limit}
    rows = read_rows(tx, space_id, lambda: tx.all(_BEFORE, given), _NUMBERS, given, _BY_NUMBER)
    return [_line(row) for row in reversed(rows) if not isinstance(row, Damaged)]


def remember_shown(acting: Acting, space_id: str, seq: int) -> None:
    """Only the newest page moves the cursor: what lies after an older one was not shown (C2)."""
    acting.shown[space_id] = max(seq, acting.shown.get(space_id, 0))


def _line(row: sa.Row[Any]) -> dict[str, Any]:
    line: dict[str, Any] = {
        "messageId": row.id,
        "timestamp": iso(row.created_at),
        "sender": {"id": row.sender_id, "name": row.sender_name, "type": row.sender_type},
        "text": row.text,
    }
    if row.kind != "text":
        line["kind"] = row.kind
    if row.tool is not None:
        line["tool"] = row.tool
    if row.reply_to is not None:
        line["replyTo"] = row.reply_to
    return line
