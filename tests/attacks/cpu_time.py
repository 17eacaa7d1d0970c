"""Stops an attack that takes too much CPU time. Wall-clock time would depend on the load of the machine."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raises in the main thread. `re` looks for signals while it matches, so this also ends a stalled pattern."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"stalled: more than {seconds:g} s of CPU time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
