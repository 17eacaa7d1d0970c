"""The order in which tests are handed to the workers: whatever takes long goes first, some of it to each.

xdist gives every worker an equal part of the list, as it stands; a worker that has done its part takes over from the
others, from the end of theirs. A long test that stood last would be waited for by all.
"""

from __future__ import annotations

from itertools import islice
from typing import Protocol, TypeVar

# Longest first. Nothing with a fixture that many tests of a file share: it would be made by every worker.
LONGEST = (
    "acceptance/test_crash.py",
    "acceptance/test_cycle_crashes.py",
    "acceptance/test_run_crashes.py",
    "cli/test_docs.py",
    "acceptance/test_two_processes.py",
    "acceptance/test_permission_crashes.py",
    "acceptance/test_two_workers.py",
    "acceptance/test_many_waiting.py",
    "acceptance/test_bus_outage.py",
)


class Item(Protocol):
    @property
    def nodeid(self) -> str: ...


T = TypeVar("T", bound=Item)


def distribute(items: list[T], workers: int) -> list[T]:
    """For as many workers: each begins with its share of the long ones, and goes on with a part of the rest."""
    long = sorted((item for item in items if _rank(item) is not None), key=lambda item: _rank(item) or 0)
    rest = iter([item for item in items if _rank(item) is None])
    hands: list[T] = []
    for n in range(workers):
        # As xdist divides: what is left, by those who are left.
        size = (len(items) - len(hands)) // (workers - n)
        mine = long[n::workers]
        hands += [*mine, *islice(rest, max(0, size - len(mine)))]
    return [*hands, *rest]


def _rank(item: Item) -> int | None:
    file = item.nodeid.partition("::")[0]
    return next((n for n, name in enumerate(LONGEST) if file.endswith(name)), None)
