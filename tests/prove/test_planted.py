"""`majlis prove` can fail: it finds bugs that are planted, each within 1,000 schedules."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from majlis.prove.schedule import run_schedule
from tests.prove.planted import BUGS, Bug

# From the first seed on; otherwise from a seed that is known to be close.
THOROUGH = bool(os.environ.get("THOROUGH"))
MOST = 1000


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bug = BUGS[name]
    run_schedule(1, tmp_path)
    bug.plant(monkeypatch)
    first = 1 if THOROUGH else bug.seed
    broken = _find(bug, first, tmp_path)
    assert any(each.startswith(bug.promise) for each in broken), broken


def _find(bug: Bug, first: int, folder: Path) -> list[str]:
    """The problems that the first schedule reports which finds any."""
    for seed in range(first, first + MOST):
        broken = run_schedule(seed, folder).broken
        if broken:
            return broken
    return []
