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
