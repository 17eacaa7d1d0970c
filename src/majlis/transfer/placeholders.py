"""A message that is missing keeps its number: a notice stands in its place, so that no cursor shifts (R9).

The notice makes way for the message itself when a later import brings it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from majlis.store import ids
from majlis.store.tables import entities, messages
from majlis.store.transactions import Tx
from majlis.transfer.checking import Line

PLACEHOLDER = "A damaged message was set aside here."
# Beyond that a file is not damaged here and there; its numbers stay reserved, and the summary says so.
MAX_PLACEHOLDERS = 100_000

_BATCH = 1000
_IS_PLACEHOLDER = sa.and_(messages.c.kind == "notice", messages.c.text == PLACEHOLDER)

Senders = Mapping[tuple[str, int], str]
"""Who is said to have written the message with this number in this space."""


def replace_placeholders(tx: Tx, lines: Sequence[Line]) -> set[int]:
    """The lines whose message took its place back."""
    if not lines or lines[0].kind.name != "message":
        return set()
    places = [(line.values["space_id"], line.values["seq"]) for line in lines]
    around = sa.select(messages).where(_around(places), _IS_PLACEHOLDER)
    found = {(row.space_id, row.seq): row.n for row in tx.all(around)}
    replaced = set()
    for line, place in zip(lines, places, strict=True):
        if place in found:
            tx.execute(messages.update().where(messages.c.n == found[place]).values(line.values))
            replaced.add(line.raw.number)
    return replaced


def _around(places: Sequence[tuple[str, int]]) -> sa.ColumnElement[bool]:
    """From the first to the last number in each space: far cheaper to plan than five hundred single places."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for space_id, seq in places:
        numbers[space_id].append(seq)
    ranges = (
        sa.and_(messages.c.space_id == space_id, messages.c.seq.between(min(seqs), max(seqs)))
        for space_id, seqs in numbers.items()
    )
    return sa.or_(*ranges)


def fill_holes(tx: Tx, space: sa.Row[Any], senders: Senders) -> tuple[int, int]:
    """How many placeholders were written, and how many numbers are still missing. Under the space's lock."""
    of_space = messages.c.space_id == space.id
    there: int = tx.execute(sa.select(sa.func.count()).select_from(messages).where(of_space)).scalar_one()
    missing = space.head_seq - there
    if not 0 < missing <= MAX_PLACEHOLDERS:
        return 0, max(0, missing)
    owner = _owner(tx)
    known = _known(tx, set(senders.values()))
    rows = [
        _placeholder(space.id, seq, at, sender if (sender := senders.get((space.id, seq))) in known else owner)
        for first, last, at in _holes(tx, space)
        for seq in range(first, last + 1)
    ]
    for start in range(0, len(rows), _BATCH):
        tx.execute(messages.insert(), rows[start : start + _BATCH])
    return len(rows), 0


def _holes(tx: Tx, space: sa.Row[Any]) -> list[tuple[int, int, int]]:
    """First and last number of each, and the time of the message before it, or of the space for the very first."""
    following = sa.func.lead(messages.c.seq).over(order_by=messages.c.seq)
    numbered = (
        sa.select(
            messages.c.seq,
            messages.c.created_at,
            sa.func.coalesce(following, space.head_seq + 1).label("following"),
        )
        .where(messages.c.space_id == space.id)
        .subquery()
    )
    gaps = sa.select(numbered).where(numbered.c.following > numbered.c.seq + 1).order_by(numbered.c.seq)
    holes = [(row.seq + 1, row.following - 1, row.created_at) for row in tx.all(gaps)]
    first = tx.execute(sa.select(sa.func.min(messages.c.seq)).where(messages.c.space_id == space.id)).scalar_one()
    before_all = (first or space.head_seq + 1) - 1
    return [(1, before_all, space.created_at), *holes] if before_all else holes


def _owner(tx: Tx) -> str:
    living = sa.select(entities.c.id).where(entities.c.role == "owner", entities.c.deleted_at.is_(None))
    return str(tx.execute(living.order_by(entities.c.id).limit(1)).scalar_one())


def _known(tx: Tx, asked: set[str]) -> set[str]:
    listed = sorted(asked)
    known: set[str] = set()
    for start in range(0, len(listed), _BATCH):
        some = entities.c.id.in_(listed[start : start + _BATCH])
        known.update(row.id for row in tx.all(sa.select(entities.c.id).where(some)))
    return known


def _placeholder(space_id: str, seq: int, at: int, sender_id: str) -> dict[str, Any]:
    message_id = ids.new("msg")
    return {
        "id": message_id,
        "space_id": space_id,
        "seq": seq,
        "sender_id": sender_id,
        "kind": "notice",
        "text": PLACEHOLDER,
        "root_cause": message_id,
        "created_at": at,
    }
