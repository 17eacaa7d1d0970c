"""The rules of a direct conversation: it keeps its two members, and its agent is always addressed (L8)."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.entities.names import MAX_LENGTH
from majlis.errors import Conflict
from majlis.store.tables import entities, spaces
from majlis.store.transactions import Tx

# Settings that would change who is in the conversation, or whether its agent is addressed.
_FIXED = {"name": "name", "triggers": "triggers", "orchestrator_id": "orchestratorId"}


def direct_key(one: str, other: str) -> str:
    return ":".join(sorted((one, other)))


def direct_name(one: str, other: str) -> str:
    """For lists that are not one member's own, such as an agent's prompt. Members see the other's name."""
    return f"{one} and {other}"[:MAX_LENGTH].rstrip()


def refuse_direct(space: sa.Row[Any]) -> None:
    if space.direct_key is not None:
        raise Conflict(
            "direct", "A direct conversation always has the same two members. Create a space to talk with others."
        )


def refuse_direct_changes(space: sa.Row[Any], changes: dict[str, Any]) -> None:
    fixed = [wire for name, wire in _FIXED.items() if name in changes and changes[name] != getattr(space, name)]
    if space.direct_key is not None and fixed:
        problem = f"{fixed[0]} cannot be changed in a direct conversation. Create a space instead."
        raise Conflict("direct", problem, {"path": fixed[0]})


def rename_direct(tx: Tx, space_ids: list[str]) -> None:
    """Called after one of the two got a new name. The caller holds the locks of the spaces."""
    direct = sa.select(spaces.c.id, spaces.c.direct_key).where(
        spaces.c.id.in_(space_ids), spaces.c.direct_key.is_not(None)
    )
    pairs = {space.id: space.direct_key.split(":") for space in tx.all(direct)}
    if not pairs:
        return
    both = sa.select(entities.c.id, entities.c.name).where(
        entities.c.id.in_({each for pair in pairs.values() for each in pair})
    )
    names = {row.id: row.name for row in tx.all(both)}
    renamed = [
        {"space": space_id, "to": direct_name(*(names[each] for each in pair))} for space_id, pair in pairs.items()
    ]
    tx.execute(spaces.update().where(spaces.c.id == sa.bindparam("space")).values(name=sa.bindparam("to")), renamed)
