"""The calls of both clients: entities and tokens, agents, spaces and messages, runs and cards."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Unpack
from uuid import uuid4

from majlis.client import wire
from majlis.client.model_calls import ModelCalls
from majlis.client.wire import Call, call

if TYPE_CHECKING:
    from majlis.client import shapes


class Calls(ModelCalls):
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
        self,
        entity_id: str,
        label: str | None = None,
        expires_at: datetime | str | None = None,
        scopes: list[shapes.Scope] | None = None,
    ) -> Call[shapes.NewTokenJson]:
        """The token itself is only in this response."""
        expires = expires_at.isoformat() if isinstance(expires_at, datetime) else expires_at
        return wire.post(
            "entities", entity_id, "tokens", body=wire.given(label=label, expires_at=expires, scopes=scopes)
        )

    @call
    def list_tokens(self, entity_id: str) -> Call[list[shapes.TokenJson]]:
        return wire.get("entities", entity_id, "tokens")

    @call
    def revoke_token(self, token_id: str) -> Call[None]:
        return wire.delete("tokens", token_id)

    @call
    def list_audit(
        self,
        actor_id: str | None = None,
        action: str | None = None,
        from_: str | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> Call[shapes.AuditPageJson]:
        """The audit log, newest first. For owners."""
        query = {"actorId": actor_id, "action": action, "from": from_, "before": before, "limit": limit}
        return wire.get("audit", **{name: value for name, value in query.items() if value is not None})

    @call
    def list_secrets(self) -> Call[list[shapes.SecretJson]]:
        return wire.get("secrets")

    @call
    def put_secret(self, name: str, value: str, hosts: Sequence[str] = ()) -> Call[shapes.SecretJson]:
        """Stores a secret, or replaces its value and its hosts. No call returns the value."""
        return wire.put("secrets", name, body={"value": value, "hosts": list(hosts)})

    @call
    def delete_secret(self, name: str) -> Call[None]:
        return wire.delete("secrets", name)

    @call
    def list_access(self, entity_id: str) -> Call[list[shapes.AccessJson]]:
        """The live tokens, browser sessions and sign-in links of an entity."""
        return wire.get("entities", entity_id, "access")

    @call
    def end_access(self, access_id: str) -> Call[None]:
        """Ends a token, session or link, and everything that was opened with it."""
        return wire.delete("access", access_id)

    @call
    def end_all_access(self, entity_id: str) -> Call[None]:
        return wire.delete("entities", entity_id, "access")

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
    def pause_agent(self, agent_id: str) -> Call[shapes.PausedJson]:
        """Its runs stop within a second and go back to the queue. Its events are kept."""
        return wire.post("agents", agent_id, "pause", repeatable=True)

    @call
    def resume_agent(self, agent_id: str) -> Call[shapes.PausedJson]:
        return wire.delete("agents", agent_id, "pause")

    @call
    def pause_space(self, space_id: str) -> Call[shapes.PausedJson]:
        """No agent works in the space until it is resumed."""
        return wire.post("spaces", space_id, "pause", repeatable=True)

    @call
    def resume_space(self, space_id: str) -> Call[shapes.PausedJson]:
        return wire.delete("spaces", space_id, "pause")

    @call
    def pause_all(self) -> Call[shapes.PausedJson]:
        """Pauses all agents of the gateway."""
        return wire.post("pause", repeatable=True)

    @call
    def resume_all(self) -> Call[shapes.PausedJson]:
        return wire.delete("pause")

    @call
    def get_pause(self) -> Call[shapes.PausedJson]:
        """Tells whether all agents of the gateway are paused."""
        return wire.get("pause")

    @call
    def agent_config_schema(self) -> Call[shapes.JsonSchema]:
        return wire.get("agents", "config-schema")

    @call
    def trigger_agent(
        self, agent_id: str, service_name: str | None, payload: object, event_id: str | None = None
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
    def list_budgets(self) -> Call[shapes.BudgetsJson]:
        """The budgets, with what is spent of each."""
        return wire.get("budgets")

    @call
    def replace_budgets(self, budgets: Sequence[shapes.BudgetJson]) -> Call[shapes.BudgetsJson]:
        """Replaces the whole list. Runs that stopped because a budget was spent try again."""
        return Call("PUT", wire.at("budgets"), body={"budgets": list(budgets)}, repeatable=True)

    @call
    def report_usage(
        self,
        by: shapes.UsageBy = "agent",
        since: str | None = None,
        until: str | None = None,
        space_id: str | None = None,
        cause_id: str | None = None,
    ) -> Call[shapes.UsageReportJson]:
        """Usage and cost in USD. `since` and `until` are dates or times; by default the last 30 days."""
        asked = {"from": since, "to": until}
        return wire.get("usage", by=by, space_id=space_id, cause_id=cause_id, **asked)

    @call
    def try_agent(
        self, agent_id: str, text: str, space_id: str | None = None, config: dict[str, Any] | None = None
    ) -> Call[shapes.TryJson]:
        """A dry run: what the model would be shown for this message. No model is called and nothing is stored."""
        body = wire.given(text=text, space_id=space_id, config=config)
        return wire.post("agents", agent_id, "try", body=body, repeatable=True)

    @call
    def list_spaces(self, *, limit: int | None = None, after: str | None = None) -> Call[list[shapes.SpaceJson]]:
        """Your spaces, most recently active first. `after` is the last id of the previous page of `limit` spaces."""
        return wire.get("spaces", limit=limit, after=after)

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
    def open_direct(self, entity_id: str) -> Call[shapes.SpaceJson]:
        """Your direct conversation with a person or an agent, created when you first ask for it."""
        return wire.post("direct", body=wire.given(entity_id=entity_id), repeatable=True)

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
    def create_invite(
        self,
        space_id: str,
        role: shapes.SpaceRole | None = None,
        expires_at: datetime | str | None = None,
        uses: int | None = None,
    ) -> Call[shapes.NewInviteJson]:
        """A link that lets people join a space. It is only in this response. For admins of the gateway."""
        expires = expires_at.isoformat() if isinstance(expires_at, datetime) else expires_at
        return wire.post("spaces", space_id, "invites", body=wire.given(role=role, expires_at=expires, uses=uses))

    @call
    def list_invites(self, space_id: str) -> Call[list[shapes.InviteJson]]:
        """The invites that still work, newest first."""
        return wire.get("spaces", space_id, "invites")

    @call
    def end_invite(self, space_id: str, invite_id: str) -> Call[None]:
        return wire.delete("spaces", space_id, "invites", invite_id)

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
        files: Sequence[str] = (),
    ) -> Call[shapes.MessageJson]:
        """Posts a message. It always has a client id, so a retry does not post it twice. `files` are ids of files that
        you uploaded to the space or may read."""
        body = wire.given(
            text=text,
            client_id=client_id or uuid4().hex,
            reply_to=reply_to,
            mentions=list(mentions) or None,
            session_id=session_id,
            files=list(files) or None,
        )
        return wire.post("spaces", space_id, "messages", body=body, repeatable=True)

    @call
    def take_events(self, max: int = 1, wait_seconds: float = 20) -> Call[shapes.TakenEventsJson]:
        """Takes events of an outside agent, with its token; waits if there is none. Each is held until its
        `leaseUntil`."""
        body = {"max": max, "waitSeconds": wait_seconds}
        return Call("POST", wire.at("inbox", "take"), body=body, waits_seconds=wait_seconds)

    @call
    def renew_event(self, event: shapes.TakenEventJson) -> Call[shapes.LeaseJson]:
        """Renews the lease of the event. Raises Conflict if the lease has ended."""
        return wire.post("inbox", event["id"], "renew", body={"lease": event["lease"]}, repeatable=True)

    @call
    def send_for_event(
        self,
        event: shapes.TakenEventJson,
        space_id: str,
        text: str,
        client_id: str | None = None,
        reply_to: str | None = None,
        mentions: Sequence[str] = (),
        wait: bool | shapes.WaitForJson = False,
    ) -> Call[shapes.MessageJson]:
        """Posts a message with the cause of the event. With `wait`, the answer is the next event of this run. Pass a
        `client_id` that a retry repeats, such as the event's id, so that nothing is posted twice."""
        waits = wait if isinstance(wait, bool) else {name.rstrip("_"): value for name, value in wait.items()}
        body = wire.given(
            text=text,
            client_id=client_id or uuid4().hex,
            reply_to=reply_to,
            mentions=list(mentions) or None,
            inbox={"id": event["id"], "lease": event["lease"]},
            wait=waits,
        )
        return wire.post("spaces", space_id, "messages", body=body, repeatable=True)

    @call
    def settle_event(
        self, event: shapes.TakenEventJson, state: shapes.Settled, reason: str | None = None
    ) -> Call[shapes.SettledJson]:
        """Ends the work on the event. Raises Conflict if the lease has ended, or it was settled otherwise."""
        body = wire.given(lease=event["lease"], state=state, reason=reason)
        return wire.post("inbox", event["id"], "settle", body=body, repeatable=True)

    @call
    def list_messages(
        self, space_id: str, limit: int | None = None, before: str | None = None, after: str | None = None
    ) -> Call[shapes.MessagePageJson]:
        """The messages of a space, oldest first. Without a cursor, the newest ones."""
        return wire.get("spaces", space_id, "messages", limit=limit, before=before, after=after)

    @call
    def list_files(
        self, space_id: str, limit: int | None = None, before: str | None = None
    ) -> Call[shapes.FilePageJson]:
        """The files that messages of the space carry, newest first. `before` is the last id of the previous page."""
        return wire.get("spaces", space_id, "files", limit=limit, before=before)

    @call
    def upload_file(
        self, space_id: str, name: str, content: bytes, upload_key: str | None = None
    ) -> Call[shapes.FileJson]:
        """Uploads a file for a message in the space. A retry stores nothing twice."""
        return Call(
            "POST",
            wire.at("spaces", space_id, "files"),
            repeatable=True,
            file=(name, content),
            headers={"Idempotency-Key": upload_key or uuid4().hex},
        )

    @call
    def download_file(self, file_id: str) -> Call[bytes]:
        """The content of a file, read into memory."""
        return Call("GET", wire.at("files", file_id), repeatable=True, binary=True)

    @call
    def get_message(self, message_id: str) -> Call[shapes.MessageJson]:
        return wire.get("messages", message_id)

    @call
    def get_why(self, message_id: str) -> Call[shapes.WhyJson]:
        """What caused the message, the nearest cause first."""
        return wire.get("messages", message_id, "why")

    @call
    def edit_message(self, message_id: str, text: str) -> Call[shapes.MessageJson]:
        """Changes the text of your own message. It wakes no agent."""
        return wire.patch("messages", message_id, body={"text": text})

    @call
    def list_versions(self, message_id: str) -> Call[shapes.VersionsJson]:
        """The earlier texts of an edited message, oldest first. For its author and admins of the space."""
        return wire.get("messages", message_id, "versions")

    @call
    def delete_message(self, message_id: str) -> Call[shapes.MessageJson]:
        """Deletes your own message, or any message as an admin of its space. Its text cannot be restored."""
        return wire.delete("messages", message_id)

    @call
    def react(self, message_id: str, emoji: str) -> Call[shapes.MessageJson]:
        """Reacts with one emoji. Repeating it changes nothing."""
        return wire.put("messages", message_id, "reactions", emoji, body={})

    @call
    def unreact(self, message_id: str, emoji: str) -> Call[shapes.MessageJson]:
        return wire.delete("messages", message_id, "reactions", emoji)

    @call
    def pin(self, message_id: str) -> Call[shapes.MessageJson]:
        """Pins a message to its space. Repeating it changes nothing."""
        return wire.put("messages", message_id, "pin", body={})

    @call
    def unpin(self, message_id: str) -> Call[shapes.MessageJson]:
        return wire.delete("messages", message_id, "pin")

    @call
    def list_pins(self, space_id: str) -> Call[shapes.PinsJson]:
        """The pinned messages of a space, newest pin first."""
        return wire.get("spaces", space_id, "pins")

    @call
    def list_summaries(
        self, space_id: str, limit: int | None = None, before: int | None = None
    ) -> Call[shapes.SummariesJson]:
        """What agents are shown instead of messages that left their windows, oldest first. `before` is the number of a
        message."""
        return wire.get("spaces", space_id, "summaries", limit=limit, before=before)

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
    def post_unsent(self, run_id: str) -> Call[shapes.MessageJson]:
        """Posts the answer that the agent wrote but did not send to you, as its message."""
        return wire.post("runs", run_id, "unsent", "post", repeatable=True)

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
    def decline_tool_call(self, run_id: str, tool_call_id: str) -> Call[shapes.MessageJson]:
        """Declines the question of an MCP server, a card with `mayDecline`."""
        return wire.post("runs", run_id, "tool-results", body={"toolCallId": tool_call_id, "decline": True})

    @call
    def list_pending_tool_calls(self, space_id: str | None = None) -> Call[list[shapes.PendingToolCallJson]]:
        """The open cards in your spaces, or in one of them."""
        return wire.get("tool-calls", space_id=space_id)

    @call
    def list_waits(self, for_me: bool = False, space_id: str | None = None) -> Call[shapes.OpenWaitsJson]:
        """The open questions and cards in your spaces, or in one of them; with `for_me` only those that you can
        answer."""
        return wire.get("waits", **{"for": "me" if for_me else None}, space_id=space_id)

    @call
    def create_ask(
        self,
        space_id: str,
        kind: shapes.AskKind,
        question: str,
        options: Sequence[str] | None = None,
        schema: shapes.JsonSchema | None = None,
        from_: Sequence[str] | None = None,
        need: int | Literal["any", "all"] | None = None,
        within: str | None = None,
        client_id: str | None = None,
    ) -> Call[shapes.AskJson]:
        """Puts a question to the members of a space. It always has a client id, so a retry does not ask twice."""
        body = wire.given(
            space_id=space_id,
            kind=kind,
            question=question,
            options=list(options) if options is not None else None,
            schema=schema,
            need=need,
            within=within,
            client_id=client_id or uuid4().hex,
        )
        named = {"from": list(from_)} if from_ is not None else {}
        return wire.post("asks", body={**body, **named}, repeatable=True)

    @call
    def get_ask(self, ask_id: str, wait_seconds: float = 0) -> Call[shapes.AskJson]:
        """The ask with its answers. With `wait_seconds` (up to 30) it returns when the ask has ended, or then."""
        query = {"waitSeconds": f"{wait_seconds:g}"} if wait_seconds else {}
        return Call("GET", wire.at("asks", ask_id), query, repeatable=True, waits_seconds=wait_seconds)

    @call
    def answer_ask(self, ask_id: str, result: object) -> Call[shapes.AskJson]:
        """Raises Conflict if you have answered before, and Invalid if the answer does not match the schema."""
        return wire.post("asks", ask_id, "answers", body={"result": result})

    @call
    def create_outgoing_webhook(
        self, url: str, events: Sequence[str] = ("*",), space_id: str | None = None, agent_id: str | None = None
    ) -> Call[shapes.NewOutgoingWebhookJson]:
        """Sends the events of a space, of all your spaces, or of an outside agent to a URL. The secret is shown
        once."""
        wanted = list(events) if agent_id is None else []
        body = wire.given(url=url, events=wanted, space_id=space_id, agent_id=agent_id)
        return wire.post("outgoing-webhooks", body=body)

    @call
    def list_outgoing_webhooks(self) -> Call[list[shapes.OutgoingWebhookJson]]:
        return wire.get("outgoing-webhooks")

    @call
    def delete_outgoing_webhook(self, webhook_id: str) -> Call[None]:
        return wire.delete("outgoing-webhooks", webhook_id)

    @call
    def list_webhook_deliveries(
        self, webhook_id: str, limit: int | None = None, before: str | None = None
    ) -> Call[list[shapes.WebhookDeliveryJson]]:
        """Deliveries that were sent or are in the queue, newest first."""
        return wire.get("outgoing-webhooks", webhook_id, "deliveries", limit=limit, before=before)

    @call
    def retry_webhook_delivery(self, webhook_id: str, delivery_id: str) -> Call[shapes.WebhookDeliveryJson]:
        """Sends the delivery again, with the same id."""
        return wire.post("outgoing-webhooks", webhook_id, "deliveries", delivery_id, "retry", repeatable=True)

    @call
    def create_incoming_webhook(
        self,
        name: str,
        scheme: str = "none",
        secret: str | None = None,
        space_id: str | None = None,
        agent_id: str | None = None,
        template: str | None = None,
    ) -> Call[shapes.IncomingWebhookJson]:
        """`secret` is the name of a stored secret. Other programs then post to its `url`."""
        verify = wire.given(scheme=scheme, secret=f"secret:{secret}" if secret else None)
        body = wire.given(name=name, verify=verify, space_id=space_id, agent_id=agent_id, template=template)
        return wire.post("incoming-webhooks", body=body)

    @call
    def list_incoming_webhooks(self) -> Call[list[shapes.IncomingWebhookJson]]:
        return wire.get("incoming-webhooks")

    @call
    def delete_incoming_webhook(self, webhook_id: str) -> Call[None]:
        return wire.delete("incoming-webhooks", webhook_id)

    @call
    def list_deliveries(self, message_id: str) -> Call[list[shapes.MessageDeliveryJson]]:
        """The delivery of this message to each agent: its state and run."""
        return wire.get("messages", message_id, "deliveries")

    @call
    def retry_delivery(self, message_id: str, agent_id: str) -> Call[list[shapes.MessageDeliveryJson]]:
        """Delivers a message again to an agent that failed to handle it. Raises Conflict if it has not failed."""
        return wire.post("messages", message_id, "deliveries", agent_id, "retry")
