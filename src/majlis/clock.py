"""Time: milliseconds since 1970 (UTC) in code, ISO 8601 with Z on the wire."""

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
    """For tests: moves the clock of this process forward."""
    global _ahead
    _ahead += millis


def stand_still() -> None:
    """For tests: stops the clock. From now on only `advance` moves it."""
    global _standing
    _standing = time.time_ns() // 1_000_000


def iso(at: Millis) -> str:
    seconds, millis = divmod(at, 1000)
    return f"{_to_the_second(seconds)}.{millis:03d}Z"


@lru_cache(4096)
def _to_the_second(seconds: int) -> str:
    """Cached: every run formats the times of the same few hundred messages."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


def parse_iso(text: str) -> Millis:
    """Raises ValueError for anything but a full date and time with a time zone."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("a time needs a time zone, for example 2026-02-18T15:07:00.000Z")
    return round(at.timestamp() * 1000)
