"""What a worker has just got: runs that are its own now."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from majlis.inbox.trigger import TriggerJson
from majlis.runs.claim.lease import LEASE_MILLIS
from majlis.runs.view.events import Event
from majlis.store.transactions import Tx


@dataclass(slots=True)
class Claimed:
    """A run that is ours now. Has the names that announcing needs."""

    id: str
    agent_id: str
    agent_name: str
    agent_version: int
    trigger: TriggerJson
    trigger_space_id: str | None
    active_space_id: str | None
    chain_depth: int
    fence: int
    attempts: int
    waits: int = 0
    working_millis: int = 0
    requests: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    model: str | None = None
    wait: dict[str, Any] | None = None
    shown: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    # Runs whose calls the model must be shown: this one, if it has begun before, and failed tries at the same event.
    earlier: list[str] = field(default_factory=list)
    # Since when the event was owed; 0 for a run that is taken up again.
    owed_at: int = 0
    # The agent has no other run that is not over, so nobody has to look for one.
    alone: bool = False
    # A cycle of a consciousness, whatever the agent's mind is by now.
    cycle: bool = False
    # What the run sees, when the claim could look at once.
    scene: Any = None


@dataclass(slots=True)
class Claim:
    """Filled while a claim goes on."""

    # Agents at their limit: their queue is worth no look until one of their runs ends.
    full: set[str]
    # Lanes in which a run is under way (`lanes.py`): what stands behind it there is worth no look in this claim.
    lanes: set[str] = field(default_factory=set)
    claimed: list[Claimed] = field(default_factory=list)
    # Runs to go on with were left in the queue, since their agents had no room.
    behind: bool = False
    events: list[Event] = field(default_factory=list)


def row_of(tx: Tx, owner: str, run: Claimed) -> dict[str, Any]:
    """A new run, leased to its owner."""
    return {
        "id": run.id,
        "agent_id": run.agent_id,
        "status": "running",
        "trigger": run.trigger,
        "trigger_space_id": run.trigger_space_id,
        "active_space_id": run.active_space_id,
        "chain_depth": run.chain_depth,
        "lease_owner": owner,
        "lease_until": tx.now + LEASE_MILLIS,
        "fence": run.fence,
        "attempts": run.attempts,
        "shown": run.shown or None,
        "cycle": run.cycle,
        "created_at": tx.now,
        "started_at": tx.now,
    }
