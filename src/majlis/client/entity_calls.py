"""Who is there: oneself, people, services, and everybody's tokens."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Unpack

from majlis.client import wire
from majlis.client.call import Call, call

if TYPE_CHECKING:
    from majlis.client.shapes import (
        EntityChanges,
        EntityJson,
        EntityType,
        GatewayRole,
        HealthJson,
        MeJson,
        NewTokenJson,
        SignInLinkJson,
        TokenJson,
    )


class EntityCalls:
    @call
    def me(self) -> Call[MeJson]:
        """The entity this client's token belongs to."""
        return wire.get(wire.at("me"))

    @call
    def health(self) -> Call[HealthJson]:
        """Whether the server and its parts are up; Unavailable with the reason when one is down."""
        return Call("GET", wire.at("health"))

    @call
    def list_entities(
        self, type: EntityType | None = None, after: str | None = None, limit: int | None = None
    ) -> Call[list[EntityJson]]:
        """In the order of ids; `after` is the last id of the page before."""
        return wire.get(wire.at("entities"), type=type, after=after, limit=limit)

    @call
    def get_entity(self, entity_id: str) -> Call[EntityJson]:
        return wire.get(wire.at("entities", entity_id))

    @call
    def create_entity(
        self, type: EntityType, name: str, external_id: str | None = None, role: GatewayRole | None = None
    ) -> Call[EntityJson]:
        """A person or a service. Agents are made with `create_agent`."""
        return wire.post(wire.at("entities"), wire.given(type=type, name=name, external_id=external_id, role=role))

    @call
    def change_entity(self, entity_id: str, **changes: Unpack[EntityChanges]) -> Call[EntityJson]:
        return wire.patch(wire.at("entities", entity_id), wire.camel(changes))

    @call
    def delete_entity(self, entity_id: str) -> Call[None]:
        return wire.delete(wire.at("entities", entity_id))

    @call
    def create_token(
        self, entity_id: str, label: str | None = None, expires_at: datetime | str | None = None
    ) -> Call[NewTokenJson]:
        """The token itself is in this answer and never again."""
        expires = expires_at.isoformat() if isinstance(expires_at, datetime) else expires_at
        return wire.post(wire.at("entities", entity_id, "tokens"), wire.given(label=label, expires_at=expires))

    @call
    def list_tokens(self, entity_id: str) -> Call[list[TokenJson]]:
        return wire.get(wire.at("entities", entity_id, "tokens"))

    @call
    def revoke_token(self, token_id: str) -> Call[None]:
        return wire.delete(wire.at("tokens", token_id))

    @call
    def create_sign_in_link(self, entity_id: str) -> Call[SignInLinkJson]:
        """For a person's browser; works once."""
        return wire.post(wire.at("entities", entity_id, "sign-in-links"))
