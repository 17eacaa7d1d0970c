"""What agents do: runs, their journals and contexts, and what became of a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from majlis.client import wire
from majlis.client.call import Call, call

if TYPE_CHECKING:
    from majlis.client.shapes import (
        ContextJson,
        MessageDeliveryJson,
        MessageJson,
        PendingToolCallJson,
        RunJson,
        RunPageJson,
        RunStatus,
        StepJson,
    )


class RunCalls:
    @call
    def list_runs(
        self,
        agent_id: str | None = None,
        space_id: str | None = None,
        status: RunStatus | None = None,
        limit: int | None = None,
        before: str | None = None,
    ) -> Call[RunPageJson]:
        """Newest first; `before` is the last run of the page before."""
        asked = {"agent_id": agent_id, "space_id": space_id, "status": status, "before": before}
        return wire.get(wire.at("runs"), limit=limit, **asked)

    @call
    def get_run(self, run_id: str) -> Call[RunJson]:
        return wire.get(wire.at("runs", run_id))

    @call
    def list_steps(self, run_id: str) -> Call[list[StepJson]]:
        """The journal: model steps and tool calls."""
        return wire.get(wire.at("runs", run_id, "steps"))

    @call
    def get_context(self, run_id: str) -> Call[ContextJson]:
        """Exactly what the model was sent; for administrators and the agent itself."""
        return wire.get(wire.at("runs", run_id, "context"))

    @call
    def cancel_run(self, run_id: str) -> Call[RunJson]:
        """Conflict when it has ended already."""
        return wire.post(wire.at("runs", run_id, "cancel"))

    @call
    def submit_tool_result(self, run_id: str, tool_call_id: str, result: object) -> Call[MessageJson]:
        """Answers what a tool asks, or permits a call. Conflict when somebody was quicker or its time is over; Invalid
        when the answer does not fit, and then the question is still open."""
        body = {"toolCallId": tool_call_id, "result": result}
        return wire.post(wire.at("runs", run_id, "tool-results"), body)

    @call
    def list_pending_tool_calls(self, space_id: str | None = None) -> Call[list[PendingToolCallJson]]:
        """What agents ask in your spaces, or in one of them, at this moment."""
        return wire.get(wire.at("tool-calls"), space_id=space_id)

    @call
    def list_deliveries(self, message_id: str) -> Call[list[MessageDeliveryJson]]:
        """For each agent that was to hear of this message: whether it has, and in which run."""
        return wire.get(wire.at("messages", message_id, "deliveries"))

    @call
    def retry_delivery(self, message_id: str, agent_id: str) -> Call[list[MessageDeliveryJson]]:
        """Offers a message once more to an agent that has failed over it; Conflict unless it has."""
        return wire.post(wire.at("messages", message_id, "deliveries", agent_id, "retry"))
