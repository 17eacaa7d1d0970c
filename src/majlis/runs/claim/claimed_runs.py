"""The runs that one claim has found so far, and what it need not look at again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from majlis.runs.run import Run
from majlis.runs.view.run_events import Event, presence, run_event


@dataclass(slots=True)
class ClaimedRuns:
    # Agents at their limit: their queue is skipped until one of their runs ends.
    full: set[str]
    # Lanes with a run in progress (`lanes.py`): the deliveries behind it are skipped.
    lanes: set[str] = field(default_factory=set)
    runs: list[Run] = field(default_factory=list)
    # By run: what it sees, where the claim could load it.
    scenes: dict[str, Any] = field(default_factory=dict)
    # Queued runs were left behind because their agents were full.
    behind: bool = False
    events: list[Event] = field(default_factory=list)

    def add(self, run: Run, event: str, **details: Any) -> None:
        self.runs.append(run)
        self.events += run_event(event, run, **details) + presence("agent.active", run)
