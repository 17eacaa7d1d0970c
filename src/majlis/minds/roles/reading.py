"""A window of messages, with what is damaged set aside (R9): one row that cannot be read must not silence a space."""

from __future__ import annotations

from majlis.minds.roles import statements
from majlis.minds.timeline.load import message_of
from majlis.minds.timeline.scene import Message, Who
from majlis.spaces.damage import Damaged, Unreadable, read_rows, reading, set_aside_named, sound
from majlis.store.transactions import Tx


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
        else:
            found.append(message_of(row, known))
    return tuple(found), tuple(damaged)


def read_one(tx: Tx, space_id: str, message_id: str) -> Message | None:
    """None if it is not there, or damaged."""
    try:
        with reading():
            row = sound(tx.one(statements.ONE, {"space": space_id, "id": message_id}))
    except Unreadable as error:
        set_aside_named(tx, message_id, error)
        return None
    return message_of(row, {}) if row is not None else None
