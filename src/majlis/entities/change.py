"""Changes and deletes entities. Every space that the entity is a member of gets an event."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.audit.record import record
from majlis.entities.caller import Caller, GatewayRole
from majlis.entities.entities import LIVING, access_entity, access_entity_to_change, require_owner, taken
from majlis.entities.names import entity_name, look_key, name_key
from majlis.entities.preferences import forget_preferences
from majlis.entities.shapes import EntityJson, entity_json
from majlis.entities.tokens import end_tokens
from majlis.errors import Conflict, Invalid
from majlis.spaces.direct_rules import rename_direct
from majlis.spaces.members import depart, tell_member_changed
from majlis.store.tables import entities, members, pictures, runs, spaces, tokens
from majlis.store.tables.runs import has_status
from majlis.store.transactions import Tx


def change_entity(
    tx: Tx, caller: Caller, entity_id: str, changes: dict[str, Any], role: GatewayRole | None = None
) -> EntityJson:
    """`changes` may contain name and external_id."""
    before = access_entity_to_change(tx, caller, entity_id)
    if role is not None and role != before.role:
        _change_role(tx, caller, before, role)
    if "name" in changes:
        changes["name"] = entity_name(changes["name"])
        changes["name_key"] = name_key(changes["name"])
        changes["look_key"] = look_key(changes["name"])
    renamed = changes.get("name", before.name) != before.name
    followed = lock_with_spaces(tx, entity_id) if renamed else []
    if changes:
        try:
            tx.execute(entities.update().where(entities.c.id == entity_id).values(changes))
        except sa.exc.IntegrityError as error:
            raise taken(error, changes.get("name", before.name)) from None
    if followed:
        rename_direct(tx, followed)
    for space_id in followed:
        tell_member_changed(tx, space_id, entity_id)
    after = {name: value for name, value in (("name", changes.get("name")), ("role", role)) if value is not None}
    record(tx, caller, "entity.changed", entity_id, before={name: getattr(before, name) for name in after}, after=after)
    return entity_json(access_entity(tx, entity_id), caller)


def delete_entity(tx: Tx, caller: Caller, entity_id: str) -> None:
    """The entity leaves all spaces and its tokens end. Its messages stay; its name can be used again."""
    entity = access_entity_to_change(tx, caller, entity_id)
    if entity.role == "owner":
        _require_another_owner(tx, entity_id)
    followed = lock_with_spaces(tx, entity_id)
    if tx.all(sa.select(spaces.c.id).where(spaces.c.orchestrator_id == entity_id, spaces.c.deleted_at.is_(None))):
        raise Conflict("orchestrator", "This agent orchestrates a space. Choose another orchestrator there first.")
    for space_id in followed:
        depart(tx, space_id, entity_id)
    # Waits of the deleted agent time out now; a worker ends their runs.
    tx.execute(runs.update().where(runs.c.agent_id == entity_id, has_status("waiting_reply")).values(deadline=tx.now))
    end_tokens(tx, tokens.c.entity_id == entity_id)
    forget_preferences(tx, entity_id)
    tx.execute(pictures.delete().where(pictures.c.entity_id == entity_id))
    tx.execute(entities.update().where(entities.c.id == entity_id).values(deleted_at=tx.now))
    record(tx, caller, "entity.deleted", entity_id, name=entity.name, type=entity.type)


def _change_role(tx: Tx, caller: Caller, entity: sa.Row[Any], role: GatewayRole) -> None:
    require_owner(caller)
    if entity.type == "agent" and role != "member":
        raise Invalid("invalid_role", "An agent cannot administer the gateway.", {"path": "role"})
    if entity.role == "owner" and role != "owner":
        _require_another_owner(tx, entity.id)
    tx.execute(entities.update().where(entities.c.id == entity.id).values(role=role))


def _require_another_owner(tx: Tx, entity_id: str) -> None:
    # Locks all owners in one order, so that two owners cannot remove each other at the same time.
    owners = tx.all(
        sa.select(entities.c.id).where(LIVING, entities.c.role == "owner").order_by(entities.c.id).with_for_update()
    )
    if [row.id for row in owners] == [entity_id]:
        raise Conflict("last_owner", "This is the last owner. Make another person an owner first.")


def lock_with_spaces(tx: Tx, entity_id: str) -> list[str]:
    """The spaces of which it is a member. Lock order: spaces before entities; a space that it joins meanwhile is locked
    after it."""
    _lock_spaces_of(tx, entity_id)
    access_entity(tx, entity_id, lock=True)
    return _lock_spaces_of(tx, entity_id)


def _lock_spaces_of(tx: Tx, entity_id: str) -> list[str]:
    statement = (
        sa.select(spaces.c.id)
        .join(members, members.c.space_id == spaces.c.id)
        .where(members.c.entity_id == entity_id, spaces.c.deleted_at.is_(None))
        .order_by(spaces.c.id)
        .with_for_update(of=spaces)
    )
    return [row.id for row in tx.all(statement)]
