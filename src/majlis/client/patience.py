"""How long to wait before trying again, and when to give up. No clock but the one that is given."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from majlis.client.call import Call
from majlis.errors import MajlisError, TooMany, Unavailable

_FIRST_SECONDS = 0.1
_LONGEST_SECONDS = 5.0


class Patience:
    """One call's patience: it tries again only what is safe to try again, and only for so long."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = clock() + seconds
        self._tries = 0

    def pause(self, call: Call[Any], error: MajlisError) -> float | None:
        """Seconds to wait before the next try, or None when the error is to be raised."""
        if not _safe_to_repeat(call, error):
            return None
        wait = max(backoff(self._tries), error.retry_after if isinstance(error, TooMany) else 0)
        self._tries += 1
        return wait if self._clock() + wait <= self._until else None


def backoff(tries: int) -> float:
    """Doubles with each try, and half of it is chance: clients that were cut off together do not return together."""
    whole: float = min(_LONGEST_SECONDS, _FIRST_SECONDS * 2 ** min(tries, 16))
    return whole * random.uniform(0.5, 1)  # noqa: S311 - chance, not a secret


def _safe_to_repeat(call: Call[Any], error: MajlisError) -> bool:
    """What was refused at the door or never sent has done nothing; what was lost on the way may have been done."""
    refused_at_the_door = isinstance(error, TooMany) or error.code == "unreachable"
    return refused_at_the_door or (call.repeatable and isinstance(error, Unavailable))
