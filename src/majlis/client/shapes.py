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
from majlis.asks.queries import AskJson as AskJson
from majlis.audit.query import AuditPageJson as AuditPageJson
from majlis.card_kinds import AskKind as AskKind
from majlis.cards.queries import PendingToolCallJson as PendingToolCallJson
from majlis.entities.caller import EntityType as EntityType
from majlis.entities.caller import GatewayRole as GatewayRole
from majlis.entities.scopes import Scope as Scope
from majlis.entities.shapes import AccessJson as AccessJson
from majlis.entities.shapes import EntityJson as EntityJson
from majlis.entities.shapes import MeJson as MeJson
from majlis.entities.shapes import NewTokenJson as NewTokenJson
from majlis.entities.shapes import SignInLinkJson as SignInLinkJson
from majlis.entities.shapes import TokenJson as TokenJson
from majlis.inbox.pause import PausedJson as PausedJson
from majlis.inbox.queries import CycleJson as CycleJson
from majlis.inbox.queries import CyclePageJson as CyclePageJson
from majlis.inbox.queries import DeliveryJson as DeliveryJson
from majlis.inbox.queries import MessageDeliveryJson as MessageDeliveryJson
from majlis.inbox.services import TriggeredJson as TriggeredJson
from majlis.inbox.trigger_shapes import EventJson as EventJson
from majlis.inbox.trigger_shapes import TriggerJson as TriggerJson
from majlis.models.connect.shapes import AgentNameJson as AgentNameJson
from majlis.models.connect.shapes import ConnectedJson as ConnectedJson
from majlis.models.connect.shapes import FoundJson as FoundJson
from majlis.models.connect.shapes import InUseJson as InUseJson
from majlis.models.connect.shapes import LookJson as LookJson
from majlis.models.connect.shapes import ModelsJson as ModelsJson
from majlis.models.connect.shapes import ProblemJson as ProblemJson
from majlis.models.connect.shapes import ProviderJson as ProviderJson
from majlis.models.connect.shapes import SizeJson as SizeJson
from majlis.models.connect.shapes import TestJson as TestJson
from majlis.outside.held import LeaseJson as LeaseJson
from majlis.outside.held import Settled as Settled
from majlis.outside.held import SettledJson as SettledJson
from majlis.outside.take import TakenEventJson as TakenEventJson
from majlis.outside.take import TakenEventsJson as TakenEventsJson
from majlis.runs.budget.budgets import BudgetJson as BudgetJson
from majlis.runs.budget.budgets import BudgetsJson as BudgetsJson
from majlis.runs.view.lens import PromptBudgetJson as PromptBudgetJson
from majlis.runs.view.open_waits import OpenWaitJson as OpenWaitJson
from majlis.runs.view.open_waits import OpenWaitsJson as OpenWaitsJson
from majlis.runs.view.shapes import AgentUsageJson as AgentUsageJson
from majlis.runs.view.shapes import ContextJson as ContextJson
from majlis.runs.view.shapes import DayUsageJson as DayUsageJson
from majlis.runs.view.shapes import RunJson as RunJson
from majlis.runs.view.shapes import RunPageJson as RunPageJson
from majlis.runs.view.shapes import RunStatus as RunStatus
from majlis.runs.view.shapes import StepJson as StepJson
from majlis.runs.view.shapes import TryJson as TryJson
from majlis.runs.view.shapes import UsageReportJson as UsageReportJson
from majlis.runs.view.shapes import UsageRowJson as UsageRowJson
from majlis.runs.view.shapes import WaitJson as WaitJson
from majlis.runs.view.usage import UsageBy as UsageBy
from majlis.runs.view.why import WhyJson as WhyJson
from majlis.secret_store import SecretJson as SecretJson
from majlis.spaces.gallery import FilePageJson as FilePageJson
from majlis.spaces.history import MessagePageJson as MessagePageJson
from majlis.spaces.invites import InviteJson as InviteJson
from majlis.spaces.invites import NewInviteJson as NewInviteJson
from majlis.spaces.pins import PinsJson as PinsJson
from majlis.spaces.read_position import ReadJson as ReadJson
from majlis.spaces.search import SearchJson as SearchJson
from majlis.spaces.shapes import FileJson as FileJson
from majlis.spaces.shapes import MemberJson as MemberJson
from majlis.spaces.shapes import MessageJson as MessageJson
from majlis.spaces.shapes import PhaseJson as PhaseJson
from majlis.spaces.shapes import PolicyRuleJson as PolicyRuleJson
from majlis.spaces.shapes import ReactionJson as ReactionJson
from majlis.spaces.shapes import SpaceFactsJson as SpaceFactsJson
from majlis.spaces.shapes import SpaceJson as SpaceJson
from majlis.spaces.shapes import SpaceRole as SpaceRole
from majlis.spaces.shapes import Triggers as Triggers
from majlis.spaces.shapes import VersionsJson as VersionsJson
from majlis.spaces.summaries import SummariesJson as SummariesJson
from majlis.webhooks.incoming import IncomingWebhookJson as IncomingWebhookJson
from majlis.webhooks.outgoing import NewOutgoingWebhookJson as NewOutgoingWebhookJson
from majlis.webhooks.outgoing import OutgoingWebhookJson as OutgoingWebhookJson
from majlis.webhooks.outgoing import WebhookDeliveryJson as WebhookDeliveryJson

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


class WaitForJson(TypedDict, total=False):
    """A wait for certain members or several answers. `from_` is sent as `from`."""

    from_: list[str]
    need: int | Literal["any", "all"]
    within: str


class SpaceChanges(TypedDict, total=False):
    name: str
    description: str
    triggers: Triggers
    orchestrator_id: str | None
    gather_millis: int
    tool_policy: list[PolicyRuleJson] | None
    max_chain_depth: int | None
