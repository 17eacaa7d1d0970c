"""Wire shapes of entities and tokens."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.clock import iso
from majlis.entities.caller import Caller, EntityType, GatewayRole
from majlis.entities.scopes import Scope, read_scopes
from majlis.store.tables import entities, pictures

AccessKind = Literal["token", "session", "link"]
_ACCESS_KINDS: dict[str, AccessKind] = {"api": "token", "session": "session", "sign_in": "link"}


# The picture of the entity of the same query.
PICTURE = (
    sa.select(pictures.c.sha256).where(pictures.c.entity_id == entities.c.id).scalar_subquery().label("picture_sha256")
)


class EntityJson(TypedDict):
    id: str
    type: EntityType
    name: str
    role: GatewayRole
    externalId: str | None
    # The path of its picture.
    picture: str | None
    createdAt: str
    # Only for administrators: when the person last opened or closed the app; null if never.
    lastSeenAt: NotRequired[str | None]


class MeJson(TypedDict):
    id: str
    name: str
    type: EntityType
    role: GatewayRole
    # The path of its picture.
    picture: str | None


class TokenJson(TypedDict):
    id: str
    entityId: str
    label: str | None
    createdAt: str
    expiresAt: str | None
    scopes: list[Scope]


class NewTokenJson(TokenJson):
    token: str


class AccessJson(TypedDict):
    id: str
    kind: AccessKind
    label: str | None
    createdAt: str
    expiresAt: str | None
    # The token it was opened with, and ends with.
    openedWith: str | None
    scopes: list[Scope]
    # True for the credential of this request.
    current: bool


class SignInLinkJson(TypedDict):
    url: str
    expiresAt: str


def picture_path(row: sa.Row[Any]) -> str | None:
    """Reads the column `PICTURE` of a row."""
    return f"/api/pictures/{row.picture_sha256}" if row.picture_sha256 is not None else None


def entity_json(row: sa.Row[Any], viewer: Caller | None = None) -> EntityJson:
    entity: EntityJson = {
        "id": row.id,
        "type": row.type,
        "name": row.name,
        "role": row.role,
        "externalId": row.external_id,
        "picture": picture_path(row),
        "createdAt": iso(row.created_at),
    }
    if viewer is not None and viewer.administers and row.type == "human":
        entity["lastSeenAt"] = iso(row.seen_at) if row.seen_at is not None else None
    return entity


def me_json(caller: Caller, picture: str | None) -> MeJson:
    return {"id": caller.id, "name": caller.name, "type": caller.type, "role": caller.role, "picture": picture}


def token_json(row: sa.Row[Any]) -> TokenJson:
    return {
        "id": row.id,
        "entityId": row.entity_id,
        "label": row.label,
        "createdAt": iso(row.created_at),
        "expiresAt": iso(row.expires_at) if row.expires_at is not None else None,
        "scopes": sorted(read_scopes(row.scopes)),
    }


def access_json(row: sa.Row[Any], caller: Caller) -> AccessJson:
    return {
        "id": row.id,
        "kind": _ACCESS_KINDS[row.kind],
        "label": row.label,
        "createdAt": iso(row.created_at),
        "expiresAt": iso(row.expires_at) if row.expires_at is not None else None,
        "openedWith": row.parent_id,
        "scopes": sorted(read_scopes(row.scopes)),
        "current": row.id == caller.token_id,
    }
