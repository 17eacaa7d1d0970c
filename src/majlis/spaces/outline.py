"""All spaces of the gateway for who looks after it: what they are called, who is in them, and not a word of them."""

from __future__ import annotations

import sqlalchemy as sa

from majlis.clock import iso
from majlis.entities.caller import Caller, require_administrator
from majlis.spaces.members import SELECT_MEMBERS
from majlis.spaces.queries import by_space
from majlis.spaces.shapes import SpaceOutlineJson
from majlis.store.tables import members, spaces
from majlis.store.transactions import Tx

_FACTS = (spaces.c.id, spaces.c.name, spaces.c.description, spaces.c.triggers, spaces.c.head_seq, spaces.c.created_at)
_PAGE = sa.select(*_FACTS).where(spaces.c.deleted_at.is_(None)).order_by(spaces.c.id)


def list_all_spaces(tx: Tx, caller: Caller, after: str | None, limit: int) -> list[SpaceOutlineJson]:
    """In the order of their making: two queries, however many there are."""
    require_administrator(caller)
    rows = tx.all(_PAGE.limit(limit) if after is None else _PAGE.where(spaces.c.id > after).limit(limit))
    if not rows:
        return []
    between = members.c.space_id.between(rows[0].id, rows[-1].id)
    grouped = by_space(tx.all(SELECT_MEMBERS.where(between).order_by(members.c.joined_at, members.c.entity_id)))
    return [
        {
            "id": row.id,
            "name": row.name,
            "description": row.description,
            "triggers": row.triggers,
            "members": grouped[row.id],
            "messageCount": row.head_seq,
            "createdAt": iso(row.created_at),
        }
        for row in rows
    ]
