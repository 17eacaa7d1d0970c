"""Time in one place: milliseconds since 1970 (UTC) inside, ISO 8601 with Z on the wire."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import lru_cache

Millis = int

_ahead = 0
_standing: Millis | None = None


def now() -> Millis:
    return (time.time_ns() // 1_000_000 if _standing is None else _standing) + _ahead


def advance(millis: Millis) -> None:
    """For tests: the whole process lives this much later from now on. Time never goes back."""
    global _ahead
    _ahead += millis


def stand_still() -> None:
    """For tests: from now on only `advance` moves the time, however slow the machine is."""
    global _standing
    _standing = time.time_ns() // 1_000_000


def iso(at: Millis) -> str:
    seconds, millis = divmod(at, 1000)
    return f"{_to_the_second(seconds)}.{millis:03d}Z"


@lru_cache(4096)
def _to_the_second(seconds: int) -> str:
    """Kept, since the same few hundred moments of a conversation are written again for every run that reads it."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


def parse_iso(text: str) -> Millis:
    """Raises ValueError for anything that is not a full date and time with a zone."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("a time needs a zone, for example 2026-02-18T15:07:00.000Z")
    return round(at.timestamp() * 1000)
