"""The order in which xdist's workers get the tests: long tests first, some for each worker.

xdist gives every worker an equal slice of the list. A worker that has finished its slice takes tests from the end of
the others'. All workers would wait for a long test at the end.
"""

from __future__ import annotations

from itertools import islice
from typing import Protocol, TypeVar

# Longest first. Without files whose tests share a slow fixture: each worker would set it up.
LONGEST = (
    "acceptance/test_crash.py",
    "acceptance/test_cycle_crashes.py",
    "acceptance/test_run_crashes.py",
    "docs/test_commands.py",
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
    """Each worker's slice starts with its share of the long tests."""
    long = sorted((item for item in items if _rank(item) is not None), key=lambda item: _rank(item) or 0)
    rest = iter([item for item in items if _rank(item) is None])
    hands: list[T] = []
    for n in range(workers):
        # As xdist divides: the remaining tests by the remaining workers.
        size = (len(items) - len(hands)) // (workers - n)
        mine = long[n::workers]
        hands += [*mine, *islice(rest, max(0, size - len(mine)))]
    return [*hands, *rest]


def _rank(item: Item) -> int | None:
    file = item.nodeid.partition("::")[0]
    return next((n for n, name in enumerate(LONGEST) if file.endswith(name)), None)
