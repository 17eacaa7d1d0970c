"""M12: which waits form a ring."""

from __future__ import annotations

import pytest

from majlis.waits.deadlock import OpenWait, find_ring

NAMES = {name[0]: name for name in ("ann", "bob", "cy", "dee")}


def waits(text: str) -> list[OpenWait]:
    """`ann@ab`: ann waits where ann and bob can write. `ann@bc2`: she needs answers of both."""
    return [_wait(*each.split("@")) for each in text.split()]


def _wait(agent: str, place: str) -> OpenWait:
    letters = place.rstrip("23")
    answerers = frozenset(NAMES[letter] for letter in letters) - {agent}
    return OpenWait(f"{agent}@{place}", agent, answerers, int(place[len(letters) :] or 1))


@pytest.mark.parametrize(
    ("waiting", "able", "ring"),
    [
        pytest.param("ann@ab bob@ba", "", "ann@ab bob@ba", id="two wait for each other"),
        pytest.param("ann@ab bob@ba", "bob", "", id="one of the two is at work elsewhere"),
        pytest.param("ann@ab bob@bc cy@ca", "", "ann@ab bob@bc cy@ca", id="three in a circle"),
        pytest.param("ann@ab bob@ba cy@ca", "", "ann@ab bob@ba", id="a third waits for the ring"),
        pytest.param("ann@ab bob@b", "", "", id="one waits for another who is alone"),
        pytest.param("ann@ab ann@ba", "", "", id="one agent waits twice"),
        pytest.param("ann@abc bob@ba", "cy", "", id="somebody who sleeps could answer one of them"),
        pytest.param("ann@ab bob@ba cy@cd dee@cd", "", "ann@ab bob@ba cy@cd dee@cd", id="two rings at once"),
        pytest.param("ann@ab ann@abc bob@ba", "cy", "", id="an agent with one wait that can be answered may answer"),
        pytest.param("ann@bc2 bob@a", "cy", "ann@bc2 bob@a", id="of two that are needed, one can answer"),
        pytest.param("ann@bc bob@a", "cy", "", id="one of two is enough"),
    ],
)
def test_m12_a_ring_is_those_that_wait_for_each_other(waiting: str, able: str, ring: str) -> None:
    assert list(find_ring(waits(waiting), set(able.split()))) == waits(ring)
