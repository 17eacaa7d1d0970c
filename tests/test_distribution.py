"""The order of the tests: each once, and the long ones first."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.distribution import LONGEST, distribute


@dataclass(frozen=True)
class Named:
    nodeid: str


SHORT = [Named(f"tests/runs/test_{n}.py::test_it") for n in range(40)]
LONG = [Named(f"tests/{file}::test_it[{engine}]") for file in reversed(LONGEST) for engine in ("sqlite", "postgresql")]


@pytest.mark.parametrize("workers", [1, 2, 4, 7, 60])
def test_every_test_is_dealt_once_and_each_part_begins_with_long_ones(workers: int) -> None:
    items = [*SHORT[:10], *LONG, *SHORT[10:]]
    hands = distribute(items, workers)
    assert sorted(hands, key=lambda item: item.nodeid) == sorted(items, key=lambda item: item.nodeid)
    first = LONGEST[0]
    begins = 0
    for n in range(workers):
        size = (len(items) - begins) // (workers - n)
        if n < len(LONG) and size:
            assert any(hands[begins].nodeid.partition("/")[2].startswith(name) for name in LONGEST)
        begins += size
    assert hands[0].nodeid.startswith(f"tests/{first}")


def test_the_rest_stays_as_it_is() -> None:
    assert [item for item in distribute([*SHORT, *LONG], 3) if item in SHORT] == SHORT
