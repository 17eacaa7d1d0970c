"""Creates, lists and finds entities. Uniqueness of names is left to the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from majlis.audit.record import record
from majlis.entities.caller import SYSTEM, Caller, EntityType, GatewayRole, require_administrator, require_power_over
from majlis.entities.names import entity_name, look_key, name_key
from majlis.entities.shapes import PICTURE, EntityJson, MeJson, entity_json, me_json, picture_path
from majlis.errors import Conflict, Forbidden, NotFound
from majlis.store import ids
from majlis.store.tables import entities
from majlis.store.transactions import Tx

LIVING = entities.c.deleted_at.is_(None)
_OWN_PICTURE = sa.select(PICTURE).select_from(entities)


def create_entity(
    tx: Tx, caller: Caller, type: EntityType, name: str, external_id: str | None = None, role: GatewayRole = "member"
) -> EntityJson:
    require_administrator(caller)
    if role != "member":
        require_owner(caller)
    made = add_entity(tx, type, name, external_id, role, caller)
    record(tx, caller, "entity.created", made["id"], name=name, type=type, role=role)
    return made


def add_entity(
    tx: Tx,
    type: EntityType,
    name: str,
    external_id: str | None = None,
    role: GatewayRole = "member",
    viewer: Caller | None = None,
) -> EntityJson:
    """Like `create_entity`, without a permission check."""
    name = entity_name(name)
    values = {
        "id": ids.new("ent"),
        "type": type,
        "name": name,
        "name_key": name_key(name),
        "look_key": look_key(name),
        "role": role,
        "external_id": external_id,
        "created_at": tx.now,
    }
    try:
        made = entities.insert().returning(*entities.c, sa.null().label("picture_sha256"))
        return entity_json(tx.execute(made, values).one(), viewer)
    except sa.exc.IntegrityError as error:
        raise taken(error, name) from None


def list_entities(
    tx: Tx, type: EntityType | None = None, after: str | None = None, limit: int = 1000, viewer: Caller | None = None
) -> list[EntityJson]:
    statement = (
        sa.select(*entities.c, PICTURE).where(LIVING, entities.c.id != SYSTEM.id).order_by(entities.c.id).limit(limit)
    )
    if type is not None:
        statement = statement.where(entities.c.type == type)
    if after is not None:
        statement = statement.where(entities.c.id > after)
    return [entity_json(row, viewer) for row in tx.all(statement)]


def read_me(tx: Tx, caller: Caller) -> MeJson:
    row = tx.one(_OWN_PICTURE.where(entities.c.id == caller.id))
    return me_json(caller, picture_path(row) if row is not None else None)


def access_entity(tx: Tx, entity_id: str, lock: bool = False) -> sa.Row[Any]:
    """`lock`: it is neither renamed nor deleted until this transaction ends. Lock order: spaces before entities."""
    statement = sa.select(*entities.c, PICTURE).where(LIVING, entities.c.id == entity_id, entities.c.id != SYSTEM.id)
    row = tx.one(statement.with_for_update(key_share=True) if lock else statement)
    if row is None:
        raise NotFound("unknown_entity", f"There is no entity with the id {entity_id}.")
    return row


def access_entity_to_change(tx: Tx, caller: Caller, entity_id: str) -> sa.Row[Any]:
    require_administrator(caller)
    entity = access_entity(tx, entity_id)
    require_power_over(caller, entity.role)
    return entity


def find_by_names(tx: Tx, names: Sequence[str]) -> Sequence[sa.Row[Any]]:
    keys = [name_key(name) for name in names]
    return tx.all(sa.select(entities).where(LIVING, entities.c.name_key.in_(keys)))


def require_owner(caller: Caller) -> None:
    if caller.role != "owner":
        raise Forbidden("not_allowed", "Only an owner of this gateway can change roles.")


def taken(error: sa.exc.IntegrityError, name: str) -> Conflict:
    if "external_id" in str(error.orig):
        return Conflict("external_id_taken", "Another entity already has this externalId.", {"path": "externalId"})
    message = f'The name "{name}" is taken (ignoring case and width), or looks like one that is. Choose another.'
    return Conflict("name_taken", message, {"path": "name"})
