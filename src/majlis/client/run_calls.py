"""Calls about runs, cards and deliveries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from majlis.client import wire
from majlis.client.wire import Call, call

if TYPE_CHECKING:
    from majlis.client import shapes


class RunCalls:
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
