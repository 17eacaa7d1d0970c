"""The gateway's own voice: the sender of notices. A member of nothing; nobody else can take its name."""

from __future__ import annotations

from dataclasses import dataclass

from majlis.entities.caller import EntityType


@dataclass(frozen=True, slots=True)
class Voice:
    # Made by a migration, the same on every gateway, so that a move to another one keeps it.
    id: str = "ent_0000000000000000"
    name: str = "Majlis"
    type: EntityType = "service"


VOICE = Voice()
