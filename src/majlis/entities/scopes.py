"""The scopes of a token: what its bearer may do, apart from the role of the entity."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, get_args

from majlis.errors import Forbidden

Scope = Literal["read", "write", "approve", "admin"]
ALL_SCOPES: frozenset[Scope] = frozenset(get_args(Scope))


def read_scopes(stored: str | None) -> frozenset[Scope]:
    """Tokens without stored scopes have all."""
    return ALL_SCOPES if stored is None else ALL_SCOPES.intersection(stored.split(","))


def missing_scope(held: Collection[Scope], any_of: Sequence[Scope]) -> Forbidden:
    message = f"This token does not have the scope {' or '.join(any_of)}. Use another token, or ask an admin for one."
    return Forbidden("missing_scope", message, {"scopes": sorted(held), "needed": list(any_of)})
