"""Direct conversations: a space of exactly two members, a person and an agent or another person (L8)."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.entities.caller import Caller
from majlis.entities.entities import access_entity
from majlis.errors import Forbidden, Invalid
from majlis.spaces.addable import require_addable
from majlis.spaces.direct_rules import direct_key, direct_name
from majlis.spaces.members import join
from majlis.spaces.queries import space_json
from majlis.spaces.shapes import SpaceJson
from majlis.store import ids
from majlis.store.tables import spaces
from majlis.store.transactions import Tx

_FOUND = sa.select(spaces.c.id).where(spaces.c.direct_key == sa.bindparam("pair"))


def open_direct(tx: Tx, caller: Caller, entity_id: str) -> tuple[SpaceJson, bool]:
    """The conversation of the caller with the other entity, and whether it is new."""
    other = access_entity(tx, entity_id)
    _require_pair(caller, other)
    pair = direct_key(caller.id, entity_id)
    found = tx.execute(_FOUND, {"pair": pair}).scalar_one_or_none()
    if found is None and (found := _create(tx, caller, other, pair)) is not None:
        return space_json(tx, caller, found), True
    # If both open it at the same time, the second insert waits for the first transaction and changes nothing.
    space_id = found or tx.execute(_FOUND, {"pair": pair}).scalar_one()
    return space_json(tx, caller, space_id), False


def _require_pair(caller: Caller, other: sa.Row[Any]) -> None:
    path = {"path": "entityId"}
    if caller.type != "human":
        raise Forbidden("not_a_person", "Only a person can open a direct conversation.")
    if other.id == caller.id:
        raise Invalid("direct_with_self", "A direct conversation needs another member. Use another entityId.", path)
    if other.type == "service":
        problem = f"{other.name} is a service. Open a direct conversation with a person or an agent."
        raise Invalid("direct_with_service", problem, path)


def _create(tx: Tx, caller: Caller, other: sa.Row[Any], pair: str) -> str | None:
    """None if another transaction created it first."""
    space_id = ids.new("spc")
    names = [name for _, name in sorted([(caller.id, caller.name), (other.id, other.name)])]
    values = {"id": space_id, "name": direct_name(*names), "direct_key": pair, "event_at": tx.now, "created_at": tx.now}
    insert: Any = (sqlite if tx.dialect == "sqlite" else postgresql).insert(spaces)
    if tx.execute(insert.on_conflict_do_nothing(index_elements=["direct_key"]), values).rowcount == 0:
        return None
    # In the order of ids, so that transactions that lock the same entities do not deadlock.
    for entity_id in pair.split(":"):
        access_entity(tx, entity_id, lock=True)
    require_addable(tx, caller, space_id, other.id)
    # Neither of two people can change settings for the other.
    admin = caller.id if other.type == "agent" else None
    for entity_id in pair.split(":"):
        join(tx, space_id, entity_id, "admin" if entity_id == admin else "member")
    return space_id
