"""M12: which waits form a ring."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from majlis.waits.deadlock import find_ring


class Wait(NamedTuple):
    agent_id: str
    wait_space_id: str


def waits(text: str) -> list[Wait]:
    return [Wait(*each.split("@")) for each in text.split()]


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
    ],
)
def test_m12_a_ring_is_those_that_wait_for_each_other(waiting: str, able: str, ring: str) -> None:
    """A space is named after the first letters of the members who can write in it."""
    names = {name[0]: name for name in ("ann", "bob", "cy", "dee")}
    given = waits(waiting)
    writers = {wait.wait_space_id: {names[letter] for letter in wait.wait_space_id} for wait in given}
    assert list(find_ring(given, writers, set(able.split()))) == waits(ring)
