"""The calls of both clients: entities and tokens, agents, spaces and messages, runs and cards."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Unpack
from uuid import uuid4

from majlis.client import wire
from majlis.client.wire import Call, call

if TYPE_CHECKING:
    from majlis.client import shapes


class Calls:
    @call
    def me(self) -> Call[shapes.MeJson]:
        """The entity that this client's token belongs to."""
        return wire.get("me")

    @call
    def health(self) -> Call[shapes.HealthJson]:
        """Raises Unavailable, with the reason, if a part of the server is down."""
        return Call("GET", wire.at("health"))

    @call
    def list_entities(
        self, type: shapes.EntityType | None = None, after: str | None = None, limit: int | None = None
    ) -> Call[list[shapes.EntityJson]]:
        """In the order of ids. `after` is the last id of the previous page."""
        return wire.get("entities", type=type, after=after, limit=limit)

    @call
    def get_entity(self, entity_id: str) -> Call[shapes.EntityJson]:
        return wire.get("entities", entity_id)

    @call
    def create_entity(
        self, type: shapes.EntityType, name: str, external_id: str | None = None, role: shapes.GatewayRole | None = None
    ) -> Call[shapes.EntityJson]:
        """Creates a person or a service. Agents are created with `create_agent`."""
        return wire.post("entities", body=wire.given(type=type, name=name, external_id=external_id, role=role))

    @call
    def change_entity(self, entity_id: str, **changes: Unpack[shapes.EntityChanges]) -> Call[shapes.EntityJson]:
        return wire.patch("entities", entity_id, body=wire.camel(changes))

    @call
    def delete_entity(self, entity_id: str) -> Call[None]:
        return wire.delete("entities", entity_id)

    @call
    def create_token(
        self, entity_id: str, label: str | None = None, expires_at: datetime | str | None = None
    ) -> Call[shapes.NewTokenJson]:
        """The token itself is only in this response."""
        expires = expires_at.isoformat() if isinstance(expires_at, datetime) else expires_at
        return wire.post("entities", entity_id, "tokens", body=wire.given(label=label, expires_at=expires))

    @call
    def list_tokens(self, entity_id: str) -> Call[list[shapes.TokenJson]]:
        return wire.get("entities", entity_id, "tokens")

    @call
    def revoke_token(self, token_id: str) -> Call[None]:
        return wire.delete("tokens", token_id)

    @call
    def create_sign_in_link(self, entity_id: str) -> Call[shapes.SignInLinkJson]:
        """A link that signs a person's browser in once."""
        return wire.post("entities", entity_id, "sign-in-links")

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

    @call
    def list_spaces(self) -> Call[list[shapes.SpaceJson]]:
        """Your spaces, most recently active first."""
        return wire.get("spaces")

    @call
    def get_space(self, space_id: str) -> Call[shapes.SpaceJson]:
        return wire.get("spaces", space_id)

    @call
    def create_space(
        self,
        name: str,
        description: str | None = None,
        triggers: shapes.Triggers | None = None,
        orchestrator_id: str | None = None,
    ) -> Call[shapes.SpaceJson]:
        body = wire.given(name=name, description=description, triggers=triggers, orchestrator_id=orchestrator_id)
        return wire.post("spaces", body=body)

    @call
    def change_space(self, space_id: str, **changes: Unpack[shapes.SpaceChanges]) -> Call[shapes.SpaceJson]:
        return wire.patch("spaces", space_id, body=wire.camel(changes))

    @call
    def delete_space(self, space_id: str) -> Call[None]:
        return wire.delete("spaces", space_id)

    @call
    def list_members(self, space_id: str) -> Call[list[shapes.MemberJson]]:
        return wire.get("spaces", space_id, "members")

    @call
    def add_member(
        self, space_id: str, entity_id: str, role: shapes.SpaceRole | None = None
    ) -> Call[shapes.MemberJson]:
        """Adding an existing member is not an error; a different role replaces the current one."""
        body = wire.given(entity_id=entity_id, role=role)
        return wire.post("spaces", space_id, "members", body=body, repeatable=True)

    @call
    def remove_member(self, space_id: str, entity_id: str) -> Call[None]:
        return wire.delete("spaces", space_id, "members", entity_id)

    @call
    def post(
        self,
        space_id: str,
        text: str,
        client_id: str | None = None,
        reply_to: str | None = None,
        mentions: Sequence[str] = (),
        session_id: str | None = None,
    ) -> Call[shapes.MessageJson]:
        """Posts a message. It always has a client id, so a retry does not post it twice."""
        body = wire.given(
            text=text,
            client_id=client_id or uuid4().hex,
            reply_to=reply_to,
            mentions=list(mentions) or None,
            session_id=session_id,
        )
        return wire.post("spaces", space_id, "messages", body=body, repeatable=True)

    @call
    def list_messages(
        self, space_id: str, limit: int | None = None, before: str | None = None, after: str | None = None
    ) -> Call[shapes.MessagePageJson]:
        """Oldest first. Without a cursor, the newest ones."""
        return wire.get("spaces", space_id, "messages", limit=limit, before=before, after=after)

    @call
    def get_message(self, message_id: str) -> Call[shapes.MessageJson]:
        return wire.get("messages", message_id)

    @call
    def mark_read(self, space_id: str, last_message_id: str) -> Call[shapes.ReadJson]:
        """Moves your read position forward to this message. It never moves back."""
        return wire.post("spaces", space_id, "read", body=wire.given(last_message_id=last_message_id), repeatable=True)

    @call
    def search(
        self, query: str, space_id: str | None = None, limit: int | None = None, before: str | None = None
    ) -> Call[shapes.SearchJson]:
        """Messages that contain every word of the query, newest first. The last word may be a prefix."""
        return wire.get("search", q=query, space_id=space_id, limit=limit, before=before)

    @call
    def enter_phase(
        self,
        space_id: str,
        phase: str,
        message: str | None = None,
        summary: str | None = None,
        reason: str | None = None,
    ) -> Call[shapes.PhaseJson]:
        body = wire.given(phase=phase, message=message, summary=summary, reason=reason)
        return wire.post("spaces", space_id, "phase", body=body)

    @call
    def list_phases(self, space_id: str) -> Call[list[shapes.PhaseJson]]:
        """Newest first."""
        return wire.get("spaces", space_id, "phases")

    @call
    def list_runs(
        self,
        agent_id: str | None = None,
        space_id: str | None = None,
        status: shapes.RunStatus | None = None,
        limit: int | None = None,
        before: str | None = None,
    ) -> Call[shapes.RunPageJson]:
        """Newest first. `before` is the last run of the previous page."""
        return wire.get("runs", agent_id=agent_id, space_id=space_id, status=status, limit=limit, before=before)

    @call
    def get_run(self, run_id: str) -> Call[shapes.RunJson]:
        return wire.get("runs", run_id)

    @call
    def list_steps(self, run_id: str) -> Call[list[shapes.StepJson]]:
        """The journal: model requests and tool calls."""
        return wire.get("runs", run_id, "steps")

    @call
    def get_context(self, run_id: str) -> Call[shapes.ContextJson]:
        """Exactly what the model was sent. Only for admins and the agent itself."""
        return wire.get("runs", run_id, "context")

    @call
    def cancel_run(self, run_id: str) -> Call[shapes.RunJson]:
        """Raises Conflict if the run has already ended."""
        return wire.post("runs", run_id, "cancel")

    @call
    def submit_tool_result(self, run_id: str, tool_call_id: str, result: object) -> Call[shapes.MessageJson]:
        """Answers a card. Raises Conflict if it is already answered or expired, and Invalid if the answer does not
        match its schema; the card then stays open."""
        return wire.post("runs", run_id, "tool-results", body={"toolCallId": tool_call_id, "result": result})

    @call
    def list_pending_tool_calls(self, space_id: str | None = None) -> Call[list[shapes.PendingToolCallJson]]:
        """The open cards in your spaces, or in one of them."""
        return wire.get("tool-calls", space_id=space_id)

    @call
    def list_deliveries(self, message_id: str) -> Call[list[shapes.MessageDeliveryJson]]:
        """The delivery of this message to each agent: its state and run."""
        return wire.get("messages", message_id, "deliveries")

    @call
    def retry_delivery(self, message_id: str, agent_id: str) -> Call[list[shapes.MessageDeliveryJson]]:
        """Delivers a message again to an agent that failed to handle it. Raises Conflict if it has not failed."""
        return wire.post("messages", message_id, "deliveries", agent_id, "retry")
