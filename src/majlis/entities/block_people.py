"""People block others, who then cannot add them to spaces (G2)."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from typing_extensions import TypedDict

from majlis.clock import iso
from majlis.entities.caller import Caller
from majlis.entities.entities import access_entity
from majlis.errors import Invalid
from majlis.store.tables import blocks, entities
from majlis.store.transactions import Tx


class BlockJson(TypedDict):
    entityId: str
    name: str
    createdAt: str


def list_blocks(tx: Tx, caller: Caller) -> list[BlockJson]:
    statement = (
        sa.select(blocks.c.blocked_id, blocks.c.created_at, entities.c.name)
        .join(entities, entities.c.id == blocks.c.blocked_id)
        .where(blocks.c.entity_id == caller.id)
        .order_by(blocks.c.created_at, blocks.c.blocked_id)
    )
    return [
        {"entityId": row.blocked_id, "name": row.name, "createdAt": iso(row.created_at)} for row in tx.all(statement)
    ]


def block(tx: Tx, caller: Caller, entity_id: str) -> None:
    if access_entity(tx, entity_id).id == caller.id:
        raise Invalid("own_block", "You cannot block yourself.")
    insert: Any = (sqlite if tx.dialect == "sqlite" else postgresql).insert(blocks)
    values = {"entity_id": caller.id, "blocked_id": entity_id, "created_at": tx.now}
    tx.execute(insert.on_conflict_do_nothing(), values)


def unblock(tx: Tx, caller: Caller, entity_id: str) -> None:
    tx.execute(blocks.delete().where(blocks.c.entity_id == caller.id, blocks.c.blocked_id == entity_id))
