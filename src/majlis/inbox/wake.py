"""Telling workers that there is something to do. A hint: whoever misses it finds the work by looking every second."""

from __future__ import annotations

from dataclasses import dataclass

from majlis.live.log import Signal

WORK = "work"
# What the signal says when a run has gone back to the queue; else somebody is owed something new.
QUEUED = b"queued"


@dataclass(frozen=True, slots=True)
class WorkAvailable(Signal):
    """After commit: somebody is owed something; workers look at once."""

    subject: str = WORK
    payload: bytes = b""
