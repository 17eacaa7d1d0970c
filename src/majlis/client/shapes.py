"""Everything the SDK takes and gives, as types. The domain's own shapes, and the few that only the wire knows.

Importing this loads the server's packages; code that needs it for its annotations alone can do so under TYPE_CHECKING.
"""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from majlis.agents.agents import AgentJson
from majlis.agents.goals import GoalJson
from majlis.agents.memories import MemoryJson
from majlis.agents.plans import PlanJson
from majlis.cards.queries import PendingToolCallJson
from majlis.entities.caller import EntityType, GatewayRole
from majlis.entities.shapes import EntityJson, TokenJson
from majlis.inbox.queries import CycleJson, CyclePageJson, DeliveryJson, MessageDeliveryJson
from majlis.inbox.services import TriggeredJson
from majlis.inbox.trigger import EventJson, TriggerJson
from majlis.runs.view.shapes import (
    AgentUsageJson,
    ContextJson,
    DayUsageJson,
    RunJson,
    RunPageJson,
    RunStatus,
    StepJson,
    TryJson,
    WaitJson,
)
from majlis.spaces.history import MessagePageJson
from majlis.spaces.read_position import ReadJson
from majlis.spaces.search import SearchJson
from majlis.spaces.shapes import (
    MemberJson,
    MessageJson,
    PhaseJson,
    PolicyRuleJson,
    SpaceFactsJson,
    SpaceJson,
    SpaceRole,
    Triggers,
)

__all__ = [
    "AgentJson",
    "AgentUsageJson",
    "ContextJson",
    "CycleJson",
    "CyclePageJson",
    "DayUsageJson",
    "DeliveryJson",
    "EntityChanges",
    "EntityJson",
    "EntityType",
    "EventJson",
    "GatewayRole",
    "GoalJson",
    "HealthJson",
    "JsonSchema",
    "MeJson",
    "MemberJson",
    "MemoryJson",
    "MessageDeliveryJson",
    "MessageJson",
    "MessagePageJson",
    "NewTokenJson",
    "PendingToolCallJson",
    "PhaseJson",
    "PlanJson",
    "PolicyRuleJson",
    "ReadJson",
    "RunJson",
    "RunPageJson",
    "RunStatus",
    "SearchJson",
    "SignInLinkJson",
    "SpaceChanges",
    "SpaceFactsJson",
    "SpaceJson",
    "SpaceRole",
    "StepJson",
    "TokenJson",
    "TriggerJson",
    "TriggeredJson",
    "Triggers",
    "TryJson",
    "WaitJson",
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
    tool_policy: list[PolicyRuleJson] | None
