"""Making, finding and changing entities. The name's uniqueness is the database's business."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from majlis.entities.caller import SYSTEM, Caller, EntityType, GatewayRole, require_administrator, require_power_over
from majlis.entities.names import entity_name, name_key
from majlis.entities.shapes import EntityJson, entity_json
from majlis.errors import Conflict, Forbidden, Invalid, NotFound
from majlis.store import ids
from majlis.store.tables import entities
from majlis.store.transactions import Tx

LIVING = entities.c.deleted_at.is_(None)


def create_entity(
    tx: Tx, caller: Caller, type: EntityType, name: str, external_id: str | None = None, role: GatewayRole = "member"
) -> EntityJson:
    require_administrator(caller)
    if role != "member":
        require_owner(caller)
    return add_entity(tx, type, name, external_id, role)


def add_entity(
    tx: Tx, type: EntityType, name: str, external_id: str | None = None, role: GatewayRole = "member"
) -> EntityJson:
    """Without a question of permission: for the gateway's own first owner, and for `create_entity`."""
    kept = entity_name(name)
    statement = entities.insert().returning(*entities.c)
    values = {
        "id": ids.new("ent"),
        "type": type,
        "name": kept,
        "name_key": name_key(kept),
        "role": role,
        "external_id": external_id,
        "created_at": tx.now,
    }
    try:
        return entity_json(tx.execute(statement, values).one())
    except sa.exc.IntegrityError as error:
        raise taken(error, kept) from None


def list_entities(
    tx: Tx, type: EntityType | None = None, after: str | None = None, limit: int = 1000
) -> list[EntityJson]:
    statement = sa.select(entities).where(LIVING, entities.c.id != SYSTEM.id).order_by(entities.c.id).limit(limit)
    if type is not None:
        statement = statement.where(entities.c.type == type)
    if after is not None:
        statement = statement.where(entities.c.id > after)
    return [entity_json(row) for row in tx.all(statement)]


def access_entity(tx: Tx, entity_id: str) -> sa.Row[Any]:
    row = tx.one(sa.select(entities).where(LIVING, entities.c.id == entity_id, entities.c.id != SYSTEM.id))
    if row is None:
        raise NotFound("unknown_entity", f"There is no entity {entity_id}.")
    return row


def find_by_names(tx: Tx, names: Sequence[str]) -> Sequence[sa.Row[Any]]:
    keys = [name_key(name) for name in names]
    return tx.all(sa.select(entities).where(LIVING, entities.c.name_key.in_(keys)))


def change_role(tx: Tx, caller: Caller, entity_id: str, role: GatewayRole) -> None:
    require_owner(caller)
    entity = access_entity(tx, entity_id)
    if entity.type == "agent" and role != "member":
        raise Invalid("invalid_role", "An agent cannot administer the gateway.", {"path": "role"})
    if entity.role == "owner" and role != "owner":
        require_another_owner(tx, entity_id)
    tx.execute(entities.update().where(entities.c.id == entity_id).values(role=role))


def access_entity_to_change(tx: Tx, caller: Caller, entity_id: str) -> sa.Row[Any]:
    require_administrator(caller)
    entity = access_entity(tx, entity_id)
    require_power_over(caller, entity.role)
    return entity


def require_owner(caller: Caller) -> None:
    if caller.role != "owner":
        raise Forbidden("not_allowed", "Only an owner of this gateway may give or take roles.")


def require_another_owner(tx: Tx, entity_id: str) -> None:
    # All owners are locked in one order, so that two owners cannot each remove the other at once.
    owners = tx.all(
        sa.select(entities.c.id).where(LIVING, entities.c.role == "owner").order_by(entities.c.id).with_for_update()
    )
    if [row.id for row in owners] == [entity_id]:
        raise Conflict("last_owner", "This is the last owner. Make somebody else an owner first.")


def taken(error: sa.exc.IntegrityError, name: str) -> Conflict:
    if "external_id" in str(error.orig):
        return Conflict("external_id_taken", "Another entity already has this externalId.", {"path": "externalId"})
    return Conflict("name_taken", f'The name "{name}" is taken (case and width make no difference).', {"path": "name"})
