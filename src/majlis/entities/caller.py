"""Who is calling, and the few rules about what a caller may do on the gateway."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from majlis.errors import Forbidden

EntityType = Literal["human", "agent", "service"]
GatewayRole = Literal["owner", "admin", "member"]


@dataclass(frozen=True, slots=True)
class Caller:
    """The entity behind a token or a session cookie, as it was when the request came in."""

    id: str
    name: str
    type: EntityType
    role: GatewayRole
    token_id: str
    expires_at: int | None = None

    @property
    def administers(self) -> bool:
        return self.role in ("owner", "admin")


def require_administrator(caller: Caller) -> None:
    if not caller.administers:
        raise Forbidden("not_allowed", "Only the owner and administrators of this gateway may do this.")


def require_power_over(caller: Caller, role: GatewayRole) -> None:
    """An administrator has no power over the owner: a token for the owner would make an owner of them."""
    require_administrator(caller)
    if role == "owner" and caller.role != "owner":
        raise Forbidden("not_allowed", "Only an owner of this gateway may do this to an owner.")
