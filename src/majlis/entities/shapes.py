"""Wire shapes of entities and tokens."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.clock import iso
from majlis.entities.caller import Caller, EntityType, GatewayRole


class EntityJson(TypedDict):
    id: str
    type: EntityType
    name: str
    role: GatewayRole
    externalId: str | None
    createdAt: str


class MeJson(TypedDict):
    id: str
    name: str
    type: EntityType
    role: GatewayRole


class TokenJson(TypedDict):
    id: str
    entityId: str
    label: str | None
    createdAt: str
    expiresAt: str | None


class NewTokenJson(TokenJson):
    token: str


class SignInLinkJson(TypedDict):
    url: str
    expiresAt: str


def entity_json(row: sa.Row[Any]) -> EntityJson:
    return {
        "id": row.id,
        "type": row.type,
        "name": row.name,
        "role": row.role,
        "externalId": row.external_id,
        "createdAt": iso(row.created_at),
    }


def me_json(caller: Caller) -> MeJson:
    return {"id": caller.id, "name": caller.name, "type": caller.type, "role": caller.role}


def token_json(row: sa.Row[Any]) -> TokenJson:
    return {
        "id": row.id,
        "entityId": row.entity_id,
        "label": row.label,
        "createdAt": iso(row.created_at),
        "expiresAt": iso(row.expires_at) if row.expires_at is not None else None,
    }
