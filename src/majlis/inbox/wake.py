"""Wakes the workers. Only a hint: a worker that misses it finds the work when it polls, every second."""

from __future__ import annotations

from dataclasses import dataclass

from majlis.live.log import Signal

WORK = "work"
# The payload when a run went back to the queue; empty for a new delivery.
QUEUED = b"queued"
# The payload when budgets have changed, and parked runs went back to the queue.
BUDGETS = b"budgets"
# The payload when a delivery will be due in a moment: the worker looks when.
SOON = b"soon"


@dataclass(frozen=True, slots=True)
class WorkAvailable(Signal):
    """Sent after commit."""

    subject: str = WORK
    payload: bytes = b""
