"""Everything the SDK takes and gives, as types. The domain's own shapes, and the few that only the wire knows.

Importing this loads the server's packages; code that needs it for its annotations alone can do so under TYPE_CHECKING.
"""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from majlis.agents.agents import AgentJson
from majlis.entities.caller import EntityType, GatewayRole
from majlis.entities.shapes import EntityJson, TokenJson
from majlis.spaces.history import MessagePageJson
from majlis.spaces.reading import ReadJson
from majlis.spaces.search import SearchJson
from majlis.spaces.shapes import (
    MemberJson,
    MessageJson,
    PhaseJson,
    SpaceFactsJson,
    SpaceJson,
    SpaceRole,
    Triggers,
)

__all__ = [
    "AgentJson",
    "EntityChanges",
    "EntityJson",
    "EntityType",
    "GatewayRole",
    "HealthJson",
    "JsonSchema",
    "MeJson",
    "MemberJson",
    "MessageJson",
    "MessagePageJson",
    "NewTokenJson",
    "PhaseJson",
    "ReadJson",
    "SearchJson",
    "SignInLinkJson",
    "SpaceChanges",
    "SpaceFactsJson",
    "SpaceJson",
    "SpaceRole",
    "TokenJson",
    "Triggers",
]

JsonSchema = dict[str, Any]


class MeJson(TypedDict):
    id: str
    name: str
    type: EntityType
    role: GatewayRole


class HealthJson(TypedDict):
    status: Literal["ok"]
    version: str
    database: str
    bus: str


class NewTokenJson(TokenJson):
    token: str


class SignInLinkJson(TypedDict):
    url: str
    expiresAt: str


class EntityChanges(TypedDict, total=False):
    name: str
    external_id: str | None
    role: GatewayRole


class SpaceChanges(TypedDict, total=False):
    name: str
    description: str
    triggers: Triggers
    orchestrator_id: str | None
