"""Calls about agents: their configs, what they keep, their inboxes, and events for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from majlis.client import wire
from majlis.client.wire import Call, call

if TYPE_CHECKING:
    from majlis.client import shapes


class AgentCalls:
    @call
    def create_agent(self, name: str, config: dict[str, Any] | None = None) -> Call[shapes.AgentJson]:
        return wire.post("agents", body=wire.given(name=name, config=config))

    @call
    def list_agents(self, after: str | None = None, limit: int | None = None) -> Call[list[shapes.AgentJson]]:
        return wire.get("agents", after=after, limit=limit)

    @call
    def get_agent(self, agent_id: str) -> Call[shapes.AgentJson]:
        return wire.get("agents", agent_id)

    @call
    def change_agent(
        self, agent_id: str, name: str | None = None, config: dict[str, Any] | None = None
    ) -> Call[shapes.AgentJson]:
        """Merges `config` into the current one. A null restores the default."""
        return wire.patch("agents", agent_id, body=wire.given(name=name, config=config))

    @call
    def delete_agent(self, agent_id: str) -> Call[None]:
        return wire.delete("agents", agent_id)

    @call
    def agent_config_schema(self) -> Call[shapes.JsonSchema]:
        return wire.get("agents", "config-schema")

    @call
    def trigger_agent(
        self, agent_id: str, service_name: str, payload: object, event_id: str | None = None
    ) -> Call[shapes.TriggeredJson]:
        """Sends an agent an event, as a service. It always has an event id, so a retry does not deliver it twice."""
        # Not `wire.given`: null is a valid payload.
        body = {"serviceName": service_name, "payload": payload, "eventId": event_id or uuid4().hex}
        return wire.post("agents", agent_id, "trigger", body=body, repeatable=True)

    @call
    def list_inbox(self, agent_id: str, limit: int | None = None) -> Call[list[shapes.DeliveryJson]]:
        """The deliveries that are pending or taken, oldest first."""
        return wire.get("agents", agent_id, "inbox", limit=limit)

    @call
    def list_cycles(
        self, agent_id: str, limit: int | None = None, before: int | None = None
    ) -> Call[shapes.CyclePageJson]:
        """The agent's consciousness, latest cycle first."""
        return wire.get("agents", agent_id, "consciousness", limit=limit, before=before)

    @call
    def list_memories(self, agent_id: str) -> Call[list[shapes.MemoryJson]]:
        return wire.get("agents", agent_id, "memories")

    @call
    def list_goals(self, agent_id: str) -> Call[list[shapes.GoalJson]]:
        return wire.get("agents", agent_id, "goals")

    @call
    def list_plans(self, agent_id: str) -> Call[list[shapes.PlanJson]]:
        return wire.get("agents", agent_id, "plans")

    @call
    def get_usage(self, agent_id: str) -> Call[shapes.AgentUsageJson]:
        """The usage of all runs of the agent."""
        return wire.get("agents", agent_id, "usage")

    @call
    def list_usage_by_day(self, agent_id: str, days: int | None = None) -> Call[list[shapes.DayUsageJson]]:
        """The usage of each of the last 30 `days` that had runs, with `cost` if the price of the model is known."""
        return wire.get("agents", agent_id, "usage", "days", days=days)

    @call
    def try_agent(
        self, agent_id: str, text: str, space_id: str | None = None, config: dict[str, Any] | None = None
    ) -> Call[shapes.TryJson]:
        """A dry run: what the model would be shown for this message. No model is called and nothing is stored."""
        body = wire.given(text=text, space_id=space_id, config=config)
        return wire.post("agents", agent_id, "try", body=body, repeatable=True)
