"""Ids: a prefix and 16 characters; short, because models copy them, and ordered by time.

Nine characters are milliseconds. Seven are random at the start of a millisecond and count up within it. The digits are
lower-case Crockford base 32 (no i, l, o, u). Ids of one process are unique and ascend. Two processes collide with a
probability of 2^-35 per pair within one millisecond; then the primary key rejects the second.
"""

from __future__ import annotations

import os
import random
import re
import threading
from typing import Literal

from majlis import clock

Kind = Literal[
    "ent",
    "spc",
    "msg",
    "run",
    "pln",
    "tok",
    "phs",
    "dlv",
    "stp",
    "gol",
    "mem",
    "cyc",
    "str",
    "evt",
    "trn",
    "crd",
    "cau",
    "aud",
    "cnv",
    "fil",
    "blb",
    "whk",
    "ask",
    "whd",
    "sum",
    "inv",
    "psh",
]

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
# Two digits at a time, and not in a loop, take an eighth of the time.
_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]
_RANDOM_BITS = 35
_TAIL = "_[0-9a-hjkmnp-tv-z]{16}"
_PATTERN = re.compile(f"[a-z]{{3}}{_TAIL}")


class Generator:
    """The (time, counter) pairs of one process."""

    def __init__(self, seed: bytes | int) -> None:
        self._lock = threading.Lock()
        # Ids are not secret. The system's generator would release the interpreter's lock while holding ours.
        self._random = random.Random(seed)  # noqa: S311
        self._last_millis = 0
        self._last_random = 0

    def seed(self, seed: bytes) -> None:
        self._random.seed(seed)

    def tick(self) -> tuple[int, int]:
        """The next pair, always after the last one, even if the clock goes back."""
        with self._lock:
            millis = clock.now()
            if millis > self._last_millis:
                # The top bit is zero, so that the counter cannot overflow within a millisecond.
                self._last_millis, self._last_random = millis, self._random.getrandbits(_RANDOM_BITS - 1)
            else:
                self._last_random += 1
            return self._last_millis, self._last_random


_own = _current = Generator(os.urandom(16))
os.register_at_fork(after_in_child=lambda: _own.seed(os.urandom(16)))


def use(generator: Generator | None) -> None:
    """For `majlis prove`, where one process simulates several; None ends it."""
    global _current
    _current = generator or _own


def new(kind: Kind) -> str:
    return f"{kind}_{_digits(*_current.tick())}"


def first_at(kind: Kind, millis: int) -> str:
    """The lowest id of this time."""
    return f"{kind}_{_digits(max(millis, 0), 0)}"


def looks_like_id(text: str) -> bool:
    return _PATTERN.fullmatch(text) is not None


def pattern(kind: str | None = None) -> str:
    """A regular expression for a whole id; without a kind for ids of every kind."""
    return f"^{kind or '[a-z]{3}'}{_TAIL}$"


def _digits(millis: int, tail: int) -> str:
    n = millis << _RANDOM_BITS | tail
    return (
        f"{_PAIRS[n >> 70 & 1023]}{_PAIRS[n >> 60 & 1023]}{_PAIRS[n >> 50 & 1023]}{_PAIRS[n >> 40 & 1023]}"
        f"{_PAIRS[n >> 30 & 1023]}{_PAIRS[n >> 20 & 1023]}{_PAIRS[n >> 10 & 1023]}{_PAIRS[n & 1023]}"
    )
