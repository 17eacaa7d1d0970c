"""Pictures of people, agents and services: small WebP files that Majlis made from an upload."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import sqlalchemy as sa

from majlis.audit.record import record
from majlis.entities.caller import Caller
from majlis.entities.change import lock_with_spaces
from majlis.entities.entities import access_entity, access_entity_to_change
from majlis.entities.shapes import EntityJson, entity_json
from majlis.errors import NotFound
from majlis.spaces.members import tell_member_changed
from majlis.store.tables import pictures
from majlis.store.transactions import Tx


def check_picture(tx: Tx, caller: Caller, entity_id: str) -> str:
    """Called before the bytes arrive: checks that the caller may change this picture. Returns the caller's id."""
    if caller.type != "human" or caller.id != entity_id:
        access_entity_to_change(tx, caller, entity_id)
    return caller.id


def set_picture(tx: Tx, caller: Caller, entity_id: str, content: bytes) -> EntityJson:
    check_picture(tx, caller, entity_id)
    sha256 = hashlib.sha256(content).hexdigest()
    values = {"sha256": sha256, "content": base64.b64encode(content).decode(), "changed_at": tx.now}
    return _replace(tx, caller, entity_id, values)


def remove_picture(tx: Tx, caller: Caller, entity_id: str) -> EntityJson:
    check_picture(tx, caller, entity_id)
    return _replace(tx, caller, entity_id, None)


def read_picture(tx: Tx, caller: Caller, sha256: str) -> bytes:
    """The picture of any member of the gateway: like names, pictures are visible to all members."""
    row = tx.one(sa.select(pictures.c.content).where(pictures.c.sha256 == sha256).limit(1))
    if row is None:
        raise NotFound("unknown_picture", "No member has this picture any more.")
    return base64.b64decode(row.content)


def _replace(tx: Tx, caller: Caller, entity_id: str, values: dict[str, Any] | None) -> EntityJson:
    followed = lock_with_spaces(tx, entity_id)
    removed = tx.execute(pictures.delete().where(pictures.c.entity_id == entity_id)).rowcount
    if values is not None:
        tx.execute(pictures.insert().values(entity_id=entity_id, **values))
    elif not removed:
        return entity_json(access_entity(tx, entity_id), caller)
    for space_id in followed:
        tell_member_changed(tx, space_id, entity_id)
    if caller.id != entity_id:
        record(tx, caller, "entity.changed", entity_id, after={"picture": values["sha256"] if values else None})
    return entity_json(access_entity(tx, entity_id), caller)
