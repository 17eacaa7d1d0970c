"""The caller of a request, and what its role allows on the gateway."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from majlis.entities.scopes import ALL_SCOPES, Scope, missing_scope
from majlis.errors import Forbidden

EntityType = Literal["human", "agent", "service"]
GatewayRole = Literal["owner", "admin", "member"]


@dataclass(frozen=True, slots=True)
class Caller:
    """The entity behind a token or a session cookie."""

    id: str
    name: str
    type: EntityType
    role: GatewayRole
    token_id: str
    expires_at: int | None = None
    # The token that this access was opened with. What callers issue for themselves ends with it.
    parent_id: str | None = None
    # The token's. Without `admin`, an administrator has the role of a member.
    scopes: frozenset[Scope] = ALL_SCOPES

    def require_scope(self, *any_of: Scope) -> None:
        if self.scopes.isdisjoint(any_of):
            raise missing_scope(self.scopes, any_of)

    @property
    def administers(self) -> bool:
        return self.role in ("owner", "admin")


# The sender of notices: created by a migration with the same id on every gateway, so that an import keeps it.
SYSTEM = Caller("ent_0000000000000000", "Majlis", "service", "member", token_id="")


def require_administrator(caller: Caller) -> None:
    if not caller.administers:
        raise Forbidden("not_allowed", "Only the owner and admins of this gateway can do this.")


def require_power_over(caller: Caller, role: GatewayRole) -> None:
    """An admin must not act on an owner: a token for an owner would give the admin an owner's rights."""
    require_administrator(caller)
    if role == "owner" and caller.role != "owner":
        raise Forbidden("not_allowed", "Only an owner can do this to another owner.")
