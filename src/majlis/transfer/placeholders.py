"""Notices in place of missing messages, so that message numbers and cursors do not shift (R9).

A later import that has the message replaces its notice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from majlis.store import ids
from majlis.store.tables import entities, messages
from majlis.store.transactions import Tx
from majlis.transfer.parse import Line

PLACEHOLDER = "This message was damaged and could not be imported."
# If more are missing, most of the file is damaged. The numbers stay reserved, and the summary says so.
MAX_PLACEHOLDERS = 100_000

_BATCH = 1000
# SQLite refuses a condition with more than 1,000 alternatives.
_SPACES = 500
# The second text was written by earlier versions.
_TEXTS = (PLACEHOLDER, "A damaged message was set aside here.")

Senders = Mapping[tuple[str, int], str]
"""The sender that a rejected line names, by space and number."""


def replace_placeholders(tx: Tx, lines: Sequence[Line]) -> set[int]:
    """Returns the numbers of the lines whose message replaced a notice."""
    if not lines or lines[0].kind.name != "message":
        return set()
    # A range of numbers per space is much cheaper to plan than five hundred single numbers.
    numbers: dict[str, list[int]] = defaultdict(list)
    for line in lines:
        numbers[line.values["space_id"]].append(line.values["seq"])
    found: dict[tuple[str, int], int] = {}
    remaining = list(numbers.items())
    while remaining:
        found |= _notices(tx, remaining[:_SPACES])
        del remaining[:_SPACES]
    replaced: set[int] = set()
    for line in lines if found else ():
        n = found.get((line.values["space_id"], line.values["seq"]))
        if n is not None:
            tx.execute(messages.update().where(messages.c.n == n).values(line.values))
            replaced.add(line.raw.number)
    return replaced


def _notices(tx: Tx, numbers: Sequence[tuple[str, list[int]]]) -> dict[tuple[str, int], int]:
    ranges = (
        sa.and_(messages.c.space_id == space_id, messages.c.seq.between(min(seqs), max(seqs)))
        for space_id, seqs in numbers
    )
    notices = sa.select(messages).where(sa.or_(*ranges), messages.c.kind == "notice", messages.c.text.in_(_TEXTS))
    return {(row.space_id, row.seq): row.n for row in tx.all(notices)}


def fill_gaps(tx: Tx, space: sa.Row[Any], senders: Senders) -> tuple[int, int]:
    """Returns how many placeholders were written and how many numbers are still missing. The space must be locked."""
    of_space = messages.c.space_id == space.id
    count: int = tx.execute(sa.select(sa.func.count()).select_from(messages).where(of_space)).scalar_one()
    missing = space.head_seq - count
    if not 0 < missing <= MAX_PLACEHOLDERS:
        return 0, max(0, missing)
    owner = _owner(tx)
    existing = sa.select(entities.c.id).where(entities.c.id.in_(set(senders.values())))
    known: set[str] = {row.id for row in tx.all(existing)}
    rows = [
        _placeholder(space.id, seq, at, sender if (sender := senders.get((space.id, seq))) in known else owner)
        for first, last, at in _gaps(tx, space)
        for seq in range(first, last + 1)
    ]
    for start in range(0, len(rows), _BATCH):
        tx.execute(messages.insert(), rows[start : start + _BATCH])
    return len(rows), 0


def _gaps(tx: Tx, space: sa.Row[Any]) -> list[tuple[int, int, int]]:
    """The first and last number of each gap, and the time of the message before it, or of the space."""
    following = sa.func.lead(messages.c.seq).over(order_by=messages.c.seq)
    numbered = (
        sa.select(
            messages.c.seq, messages.c.created_at, sa.func.coalesce(following, space.head_seq + 1).label("following")
        )
        .where(messages.c.space_id == space.id)
        .subquery()
    )
    found = sa.select(numbered).where(numbered.c.following > numbered.c.seq + 1).order_by(numbered.c.seq)
    gaps = [(row.seq + 1, row.following - 1, row.created_at) for row in tx.all(found)]
    first = tx.execute(sa.select(sa.func.min(messages.c.seq)).where(messages.c.space_id == space.id)).scalar_one()
    before_all = (first or space.head_seq + 1) - 1
    return [(1, before_all, space.created_at), *gaps] if before_all else gaps


def _owner(tx: Tx) -> str:
    owners = sa.select(entities.c.id).where(entities.c.role == "owner", entities.c.deleted_at.is_(None))
    return str(tx.execute(owners.order_by(entities.c.id).limit(1)).scalar_one())


def _placeholder(space_id: str, seq: int, at: int, sender_id: str) -> dict[str, Any]:
    message_id = ids.new("msg")
    return {
        "id": message_id,
        "space_id": space_id,
        "seq": seq,
        "sender_id": sender_id,
        "kind": "notice",
        "text": PLACEHOLDER,
        "caused_by": message_id,
        "created_at": at,
    }
