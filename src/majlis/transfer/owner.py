"""The owner of a fresh gateway makes way for the owner of the gateway that moves in.

A gateway has an owner from its first start. Nobody has used it as long as there is no space and nobody else; then
the imported owner takes its place: tokens and sessions pass to the imported owner, so the sign-in link that
`majlis serve` has printed still works, and the row of the fresh owner goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from majlis.entities.caller import SYSTEM
from majlis.entities.entities import LIVING, add_entity
from majlis.store.tables import entities, events, spaces, tokens
from majlis.store.transactions import Tx
from majlis.transfer.checking import Line
from majlis.transfer.batch import take_in
from majlis.transfer.verdicts import Asides, Verdicts


def ensure_owner(tx: Tx, name: str) -> None:
    """A database that was never served gets its owner now, so that a name that collides does so here and not later."""
    if tx.one(sa.select(entities.c.id).where(LIVING, entities.c.role == "owner").limit(1)) is None:
        add_entity(tx, "human", name, role="owner")


def take_over(tx: Tx, lines: Sequence[Line], asides: Asides) -> Verdicts:
    """What became of the owner's line, if there is one that takes the place of a fresh owner; else nothing."""
    newcomer = next(filter(_is_owner, lines), None)
    fresh = _fresh_owner(tx) if newcomer is not None else None
    if newcomer is None or fresh is None or fresh.id == newcomer.values["id"]:
        return {}
    aside = tx.conn.begin_nested()
    tx.execute(entities.update().where(entities.c.id == fresh.id).values(name_key=fresh.id, external_id=None))
    verdicts = take_in(tx, [newcomer], asides)
    if verdicts[newcomer.raw.number].outcome != "imported":
        aside.rollback()
        return verdicts
    tx.execute(tokens.update().where(tokens.c.entity_id == fresh.id).values(entity_id=newcomer.values["id"]))
    tx.execute(events.delete().where(events.c.topic == fresh.id))
    tx.execute(entities.delete().where(entities.c.id == fresh.id))
    aside.commit()
    return verdicts


def _is_owner(line: Line) -> bool:
    values = line.values
    return line.kind.name == "entity" and values.get("role") == "owner" and values.get("deleted_at") is None


def _fresh_owner(tx: Tx) -> sa.Row[Any] | None:
    everybody = tx.all(sa.select(entities).where(entities.c.id != SYSTEM.id).limit(2))
    used = len(everybody) != 1 or tx.one(sa.select(spaces.c.id).limit(1)) is not None
    return None if used or everybody[0].role != "owner" else everybody[0]
