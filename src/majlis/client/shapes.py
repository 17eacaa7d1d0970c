"""The types of everything that the SDK takes and returns.

Importing this loads the server's packages. Code that needs it only for annotations can import it under TYPE_CHECKING.
"""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from majlis.agents.agents import AgentJson as AgentJson
from majlis.agents.goals import GoalJson as GoalJson
from majlis.agents.memories import MemoryJson as MemoryJson
from majlis.agents.plans import PlanJson as PlanJson
from majlis.cards.queries import PendingToolCallJson as PendingToolCallJson
from majlis.entities.caller import EntityType as EntityType
from majlis.entities.caller import GatewayRole as GatewayRole
from majlis.entities.shapes import EntityJson as EntityJson
from majlis.entities.shapes import MeJson as MeJson
from majlis.entities.shapes import NewTokenJson as NewTokenJson
from majlis.entities.shapes import SignInLinkJson as SignInLinkJson
from majlis.entities.shapes import TokenJson as TokenJson
from majlis.inbox.queries import CycleJson as CycleJson
from majlis.inbox.queries import CyclePageJson as CyclePageJson
from majlis.inbox.queries import DeliveryJson as DeliveryJson
from majlis.inbox.queries import MessageDeliveryJson as MessageDeliveryJson
from majlis.inbox.services import TriggeredJson as TriggeredJson
from majlis.inbox.trigger import EventJson as EventJson
from majlis.inbox.trigger import TriggerJson as TriggerJson
from majlis.runs.view.shapes import AgentUsageJson as AgentUsageJson
from majlis.runs.view.shapes import ContextJson as ContextJson
from majlis.runs.view.shapes import DayUsageJson as DayUsageJson
from majlis.runs.view.shapes import RunJson as RunJson
from majlis.runs.view.shapes import RunPageJson as RunPageJson
from majlis.runs.view.shapes import RunStatus as RunStatus
from majlis.runs.view.shapes import StepJson as StepJson
from majlis.runs.view.shapes import TryJson as TryJson
from majlis.runs.view.shapes import WaitJson as WaitJson
from majlis.spaces.history import MessagePageJson as MessagePageJson
from majlis.spaces.read_position import ReadJson as ReadJson
from majlis.spaces.search import SearchJson as SearchJson
from majlis.spaces.shapes import MemberJson as MemberJson
from majlis.spaces.shapes import MessageJson as MessageJson
from majlis.spaces.shapes import PhaseJson as PhaseJson
from majlis.spaces.shapes import PolicyRuleJson as PolicyRuleJson
from majlis.spaces.shapes import SpaceFactsJson as SpaceFactsJson
from majlis.spaces.shapes import SpaceJson as SpaceJson
from majlis.spaces.shapes import SpaceRole as SpaceRole
from majlis.spaces.shapes import Triggers as Triggers

JsonSchema = dict[str, Any]


class HealthJson(TypedDict):
    status: Literal["ok", "degraded"]
    version: str
    database: str
    bus: str


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
