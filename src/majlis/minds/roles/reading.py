"""A window of messages, with what is damaged set aside (R9): one row that cannot be read must not silence a space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from majlis.minds.roles import statements
from majlis.minds.timeline.loading import message_of
from majlis.minds.timeline.scene import Message, Who
from majlis.spaces.damage import Damaged, Unreadable, read_rows, reading, set_aside, set_aside_named
from majlis.store.transactions import Tx

_KINDS = ("text", "tool", "notice")


def read_window(tx: Tx, space_id: str, start: int, end: int) -> tuple[tuple[Message, ...], tuple[Damaged, ...]]:
    found: list[Message] = []
    damaged: list[Damaged] = []
    known: dict[str, Who] = {}
    window = {"space": space_id, "start": start, "end": end}
    rows = read_rows(
        tx, space_id, lambda: tx.all(statements.WINDOW, window), statements.NUMBERS, window, statements.BY_NUMBER
    )
    for row in rows:
        if isinstance(row, Damaged):
            damaged.append(row)
        elif (problem := _problem(row)) is None:
            found.append(message_of(row, known))
        else:
            damaged.append(set_aside(space_id, Damaged(str(row.id), row.seq, problem)))
    return tuple(found), tuple(damaged)


def read_one(tx: Tx, space_id: str, message_id: str) -> Message | None:
    """None if it is not there, or damaged."""
    try:
        with reading():
            row = tx.one(statements.ONE, {"space": space_id, "id": message_id})
    except Unreadable as error:
        set_aside_named(tx, message_id, error)
        return None
    return message_of(row, {}) if row is not None and _problem(row) is None else None


def _problem(row: sa.Row[Any]) -> str | None:
    if row.sender_name is None:
        return "its sender is unknown"
    if not isinstance(row.text, str):
        return "its text is no text"
    if row.kind not in _KINDS:
        return "it is of no known kind"
    if not isinstance(row.tool, Mapping if row.kind == "tool" else Mapping | None):
        return "its tool is no object"
    if not isinstance(row.created_at, int):
        return "its time is no time"
    if not isinstance(row.origin, Mapping | None):
        return "its origin is no object"
    return None
