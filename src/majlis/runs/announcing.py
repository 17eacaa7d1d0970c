"""What the members of a space hear of runs: who began, who waits, who is done. Recorded in the transaction of the
change, in the space that triggered the run; presence also where the run is active now."""

from __future__ import annotations

from typing import Any

from majlis.live import log
from majlis.store.transactions import Tx

Event = tuple[str, str, dict[str, Any]]


def run_event(type: str, run: Any, **more: Any) -> list[Event]:
    """`run` has `id`, `agent_id`, `trigger_space_id`, `active_space_id`."""
    space_id = run.trigger_space_id or run.active_space_id
    if space_id is None:
        return []
    return [(space_id, type, {"spaceId": space_id, "runId": run.id, "agentId": run.agent_id, **more})]


def presence(type: str, run: Any) -> list[Event]:
    """`agent.active` or `agent.inactive`, wherever people see this run at work."""
    spaces = {run.trigger_space_id, run.active_space_id} - {None}
    return [(space, type, {"spaceId": space, "agentId": run.agent_id, "runId": run.id}) for space in sorted(spaces)]


def announce(tx: Tx, events: list[Event]) -> None:
    if events:
        log.record_together(tx, events)
