"""Live events about runs, recorded in the transaction of the change. They go to the space that triggered the run;
presence events also go to the space that is active."""

from __future__ import annotations

from typing import Any

from majlis.live import log
from majlis.store.transactions import Tx

Event = tuple[str, str, dict[str, Any]]


def run_event(type: str, run: Any, **more: Any) -> list[Event]:
    """`run` has `id`, `agent_id`, `trigger`, `trigger_space_id`, `active_space_id`."""
    space_id = run.trigger_space_id or run.active_space_id
    if space_id is None:
        return []
    return [(space_id, type, {"spaceId": space_id, "runId": run.id, "agentId": run.agent_id, **more})]


def presence(type: str, run: Any) -> list[Event]:
    """`agent.active` or `agent.inactive`, in each space where members see the run."""
    spaces = spaces_of_run(run)
    return [(space, type, {"spaceId": space, "agentId": run.agent_id, "runId": run.id}) for space in sorted(spaces)]


def spaces_of_run(run: Any) -> set[str]:
    """The spaces of its events, several for a cycle, and its active space."""
    found = {run.trigger_space_id, run.active_space_id}
    events = run.trigger.get("events")
    if events:
        found.update(event.get("spaceId") for event in events)
    found.discard(None)
    return found


def announce(tx: Tx, events: list[Event]) -> None:
    if events:
        log.record_together(tx, events)
