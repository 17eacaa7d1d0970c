"""A short storm. `make storm` blows for longer."""

from __future__ import annotations

import subprocess
import sys


def test_nothing_is_lost_doubled_or_stuck_in_a_storm() -> None:
    """In a process of its own, which leaves the network that other tests use."""
    options = ("--minutes", "0.05", "--least", "6", "--pace", "0.7", "--seed", "1")
    ended = subprocess.run(
        [sys.executable, "-m", "tests.storms", *options], capture_output=True, text=True, timeout=280, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "broken promises: 0" in ended.stdout
    assert "faults: {'" in ended.stdout
