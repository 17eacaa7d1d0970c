"""What agents do: runs, their journals and contexts, and what became of a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from majlis.client import wire
from majlis.client.call import Call, call

if TYPE_CHECKING:
    from majlis.client.shapes import ContextJson, MessageDeliveryJson, RunJson, RunPageJson, RunStatus, StepJson


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
    def list_deliveries(self, message_id: str) -> Call[list[MessageDeliveryJson]]:
        """For each agent that was to hear of this message: whether it has, and in which run."""
        return wire.get(wire.at("messages", message_id, "deliveries"))
