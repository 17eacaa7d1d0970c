"""Calls about entities and their tokens."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Unpack

from majlis.client import wire
from majlis.client.wire import Call, call

if TYPE_CHECKING:
    from majlis.client import shapes


class EntityCalls:
    @call
    def me(self) -> Call[shapes.MeJson]:
        """The entity that this client's token belongs to."""
        return wire.get("me")

    @call
    def health(self) -> Call[shapes.HealthJson]:
        """Raises Unavailable, with the reason, if a part of the server is down."""
        return Call("GET", wire.at("health"))

    @call
    def list_entities(
        self, type: shapes.EntityType | None = None, after: str | None = None, limit: int | None = None
    ) -> Call[list[shapes.EntityJson]]:
        """In the order of ids. `after` is the last id of the previous page."""
        return wire.get("entities", type=type, after=after, limit=limit)

    @call
    def get_entity(self, entity_id: str) -> Call[shapes.EntityJson]:
        return wire.get("entities", entity_id)

    @call
    def create_entity(
        self, type: shapes.EntityType, name: str, external_id: str | None = None, role: shapes.GatewayRole | None = None
    ) -> Call[shapes.EntityJson]:
        """Creates a person or a service. Agents are created with `create_agent`."""
        return wire.post("entities", body=wire.given(type=type, name=name, external_id=external_id, role=role))

    @call
    def change_entity(self, entity_id: str, **changes: Unpack[shapes.EntityChanges]) -> Call[shapes.EntityJson]:
        return wire.patch("entities", entity_id, body=wire.camel(changes))

    @call
    def delete_entity(self, entity_id: str) -> Call[None]:
        return wire.delete("entities", entity_id)

    @call
    def create_token(
        self, entity_id: str, label: str | None = None, expires_at: datetime | str | None = None
    ) -> Call[shapes.NewTokenJson]:
        """The token itself is only in this response."""
        expires = expires_at.isoformat() if isinstance(expires_at, datetime) else expires_at
        return wire.post("entities", entity_id, "tokens", body=wire.given(label=label, expires_at=expires))

    @call
    def list_tokens(self, entity_id: str) -> Call[list[shapes.TokenJson]]:
        return wire.get("entities", entity_id, "tokens")

    @call
    def revoke_token(self, token_id: str) -> Call[None]:
        return wire.delete("tokens", token_id)

    @call
    def create_sign_in_link(self, entity_id: str) -> Call[shapes.SignInLinkJson]:
        """A link that signs a person's browser in once."""
        return wire.post("entities", entity_id, "sign-in-links")
