"""Agents: what they are told to be, what they keep, what they are owed, and events for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from majlis.client import wire
from majlis.client.call import Call, call

if TYPE_CHECKING:
    from majlis.client.shapes import (
        AgentJson,
        AgentUsageJson,
        CyclePageJson,
        DayUsageJson,
        DeliveryJson,
        GoalJson,
        JsonSchema,
        MemoryJson,
        PlanJson,
        TriggeredJson,
        TryJson,
    )


class AgentCalls:
    @call
    def create_agent(self, name: str, config: dict[str, Any] | None = None) -> Call[AgentJson]:
        return wire.post(wire.at("agents"), wire.given(name=name, config=config))

    @call
    def list_agents(self, after: str | None = None, limit: int | None = None) -> Call[list[AgentJson]]:
        return wire.get(wire.at("agents"), after=after, limit=limit)

    @call
    def get_agent(self, agent_id: str) -> Call[AgentJson]:
        return wire.get(wire.at("agents", agent_id))

    @call
    def change_agent(
        self, agent_id: str, name: str | None = None, config: dict[str, Any] | None = None
    ) -> Call[AgentJson]:
        """`config` is merged into the present one; a null in it means the default."""
        return wire.patch(wire.at("agents", agent_id), wire.given(name=name, config=config))

    @call
    def delete_agent(self, agent_id: str) -> Call[None]:
        return wire.delete(wire.at("agents", agent_id))

    @call
    def agent_config_schema(self) -> Call[JsonSchema]:
        return wire.get(wire.at("agents", "config-schema"))

    @call
    def trigger_agent(
        self, agent_id: str, service_name: str, payload: object, event_id: str | None = None
    ) -> Call[TriggeredJson]:
        """Tell an agent something, as a service. It always carries an event id, so it is sent again after a failure
        and still owed once."""
        # Not `wire.given`: a payload of null is a payload.
        body = {"serviceName": service_name, "payload": payload, "eventId": event_id or uuid4().hex}
        return wire.post(wire.at("agents", agent_id, "trigger"), body, repeatable=True)

    @call
    def list_inbox(self, agent_id: str, limit: int | None = None) -> Call[list[DeliveryJson]]:
        """What waits for the agent or is being worked on, oldest first."""
        return wire.get(wire.at("agents", agent_id, "inbox"), limit=limit)

    @call
    def list_cycles(self, agent_id: str, limit: int | None = None, before: int | None = None) -> Call[CyclePageJson]:
        """The agent's consciousness, the latest cycle first."""
        return wire.get(wire.at("agents", agent_id, "consciousness"), limit=limit, before=before)

    @call
    def list_memories(self, agent_id: str) -> Call[list[MemoryJson]]:
        return wire.get(wire.at("agents", agent_id, "memories"))

    @call
    def list_goals(self, agent_id: str) -> Call[list[GoalJson]]:
        return wire.get(wire.at("agents", agent_id, "goals"))

    @call
    def list_plans(self, agent_id: str) -> Call[list[PlanJson]]:
        return wire.get(wire.at("agents", agent_id, "plans"))

    @call
    def get_usage(self, agent_id: str) -> Call[AgentUsageJson]:
        """What all runs of the agent have cost together."""
        return wire.get(wire.at("agents", agent_id, "usage"))

    @call
    def list_usage_by_day(self, agent_id: str, days: int | None = None) -> Call[list[DayUsageJson]]:
        """The same for each of the last days (30) that had runs; `cost` where the gateway knows the model's price."""
        return wire.get(wire.at("agents", agent_id, "usage", "days"), days=days)

    @call
    def try_agent(
        self, agent_id: str, text: str, space_id: str | None = None, config: dict[str, Any] | None = None
    ) -> Call[TryJson]:
        """A dry run: what the agent would be shown if you said this now. No model is asked and nothing is kept."""
        body = wire.given(text=text, space_id=space_id, config=config)
        return wire.post(wire.at("agents", agent_id, "try"), body, repeatable=True)
