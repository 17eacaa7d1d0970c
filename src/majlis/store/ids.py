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
    "ent", "spc", "msg", "run", "pln", "tok", "phs", "dlv", "stp", "gol", "mem", "cyc", "str", "evt", "trn", "crd"
]

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_RANDOM_BITS = 35
_PATTERN = re.compile(r"[a-z]{3}_[0-9a-hjkmnp-tv-z]{16}")

_lock = threading.Lock()
# Ids are not secret. The system's generator would release the interpreter's lock while holding ours.
_random = random.Random(os.urandom(16))  # noqa: S311
os.register_at_fork(after_in_child=lambda: _random.seed(os.urandom(16)))
_last_millis = 0
_last_random = 0


def new(kind: Kind) -> str:
    millis, tail = _tick()
    return f"{kind}_{_digits(millis, 9)}{_digits(tail, 7)}"


def looks_like_id(text: str) -> bool:
    return _PATTERN.fullmatch(text) is not None


def _tick() -> tuple[int, int]:
    """The next (time, counter), always after the last one, even if the clock goes back."""
    global _last_millis, _last_random
    with _lock:
        millis = clock.now()
        if millis > _last_millis:
            # The top bit is zero, so that the counter cannot overflow within a millisecond.
            _last_millis, _last_random = millis, _random.getrandbits(_RANDOM_BITS - 1)
        else:
            _last_random += 1
        return _last_millis, _last_random


def _digits(number: int, width: int) -> str:
    return "".join(_DIGITS[(number >> shift) & 31] for shift in range(5 * (width - 1), -1, -5))
