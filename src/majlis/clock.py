"""Time: milliseconds since 1970 (UTC) in code, ISO 8601 with Z on the wire.

On PostgreSQL all nodes use the time of the database server, so their own clocks need not agree.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from datetime import time as TimeOfDay  # noqa: N812 - `time` is the module
from functools import cache, lru_cache
from zoneinfo import ZoneInfo, available_timezones

Millis = int

_timezones = cache(available_timezones)

_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

# Smaller differences between clocks do no harm. They are not followed, so that the time does not jump.
_NOTICEABLE_MILLIS = 250

_ahead = 0
_standing: Millis | None = None
# The time of the clock that is followed, minus `_steady()`.
_followed: Millis | None = None
_simulated: Callable[[], Millis] | None = None


def now() -> Millis:
    if _simulated is not None:
        return _simulated()
    return (_running() if _standing is None else _standing) + _ahead


async def follow(ask: Callable[[], Awaitable[Millis]]) -> Millis:
    """Adopts the time that `ask` returns, unless it is about the same as now. Steps of this machine's clock have no
    effect from then on. Returns how far the time moved."""
    global _followed
    asked = _steady()
    there = await ask()
    answered = _steady()
    measured = there - (asked + answered) // 2
    current = _running() - _steady()
    noticeable = abs(measured - current) > _NOTICEABLE_MILLIS + (answered - asked) // 2
    _followed = measured if noticeable else current
    return _followed - current


def follow_nothing() -> None:
    """Returns to this machine's clock."""
    global _followed
    _followed = None


def simulate(source: Callable[[], Millis] | None) -> None:
    """For `majlis prove`: reads the time from a simulated clock; None ends it."""
    global _simulated
    _simulated = source


def advance(millis: Millis) -> None:
    """For tests: moves the clock of this process forward."""
    global _ahead
    _ahead += millis


def stand_still() -> None:
    """For tests: stops the clock. From now on only `advance` moves it."""
    global _standing
    _standing = time.time_ns() // 1_000_000


def stands_still() -> bool:
    return _standing is not None


def _running() -> Millis:
    return time.time_ns() // 1_000_000 if _followed is None else _steady() + _followed


def _steady() -> Millis:
    """Ascends by a millisecond per millisecond, also while the machine is suspended, where the system can tell."""
    return time.clock_gettime_ns(_STEADY) // 1_000_000


def iso(at: Millis) -> str:
    seconds, millis = divmod(at, 1000)
    return f"{_to_the_second(seconds)}.{millis:03d}Z"


@lru_cache(4096)
def _to_the_second(seconds: int) -> str:
    """Cached: every run formats the times of the same few hundred messages."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


def is_timezone(name: str) -> bool:
    return name in _timezones()


def day_of(at: Millis, timezone: str) -> str:
    """The date there, as YYYY-MM-DD."""
    return f"{datetime.fromtimestamp(at / 1000, ZoneInfo(timezone)):%Y-%m-%d}"


def start_of_day(day: str, timezone: str) -> Millis:
    """Raises ValueError for anything but YYYY-MM-DD."""
    return round(datetime.combine(date.fromisoformat(day), TimeOfDay(), ZoneInfo(timezone)).timestamp() * 1000)


def next_day(day: str) -> str:
    return (date.fromisoformat(day) + timedelta(days=1)).isoformat()


def parse_iso(text: str) -> Millis:
    """Raises ValueError for anything but a full date and time with a time zone."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("a time needs a time zone, for example 2026-02-18T15:07:00.000Z")
    return round(at.timestamp() * 1000)
