"""Ids are short, safe to copy, ascending and unique."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from majlis import clock
from majlis.store import ids


def test_ids_are_short_prefixed_and_ascend() -> None:
    made = [ids.new("msg") for _ in range(10_000)]
    assert all(len(id) == 20 and id.startswith("msg_") and ids.looks_like_id(id) for id in made)
    assert made == sorted(made)
    assert len(set(made)) == len(made)


def test_ids_of_many_threads_never_meet() -> None:
    with ThreadPoolExecutor(8) as pool:
        parts = pool.map(lambda _: [ids.new("run") for _ in range(2_000)], range(8))
    made = [id for part in parts for id in part]
    assert len(set(made)) == len(made)


def test_ids_ascend_even_when_the_clock_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    first = ids.new("msg")
    monkeypatch.setattr(clock, "now", lambda: 1_000)
    assert ids.new("msg") > first


@pytest.mark.parametrize("millis", [0, 1, 31, 32, 1_790_000_000_123, 2**45 - 1])
def test_an_id_begins_with_its_time(millis: int) -> None:
    digits = "0123456789abcdefghjkmnpqrstvwxyz"
    made = ids.first_at("msg", millis)
    assert sum(digits.index(digit) * 32**place for place, digit in enumerate(reversed(made[4:13]))) == millis
    assert made[:4] + made[13:] == "msg_0000000"
