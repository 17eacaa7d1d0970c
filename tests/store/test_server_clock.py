"""All nodes use the clock of the database server, whatever their own says."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from majlis import clock

_HOUR = 3_600_000


@pytest.fixture(autouse=True)
def unfollowed() -> Iterator[None]:
    clock.follow_nothing()
    yield
    clock.follow_nothing()


async def server(difference: int) -> int:
    return time.time_ns() // 1_000_000 + difference


@pytest.mark.parametrize("difference", [-_HOUR, _HOUR])
async def test_the_time_becomes_the_servers_and_steps_of_this_machines_clock_do_nothing(
    difference: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = time.time_ns
    moved = await clock.follow(lambda: server(difference))
    assert abs(moved - difference) < 60_000
    monkeypatch.setattr(time, "time_ns", lambda: right() - 10 * _HOUR * 1_000_000)
    assert abs(clock.now() - (right() // 1_000_000 + difference)) < 60_000


async def test_a_difference_of_a_few_milliseconds_does_not_move_the_time() -> None:
    assert await clock.follow(lambda: server(100)) == 0
    assert await clock.follow(lambda: server(-100)) == 0
