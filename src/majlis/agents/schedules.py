"""Parses the times of plans (P3). A time that could never fire is an error that tells the model what to write."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from majlis.clock import Millis, iso, parse_iso
from majlis.errors import Invalid

_SECOND = 1000
_MINUTE = 60 * _SECOND
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
MAX_AHEAD = 5 * 366 * _DAY
# The model reads the time at the start of its run, so "now" may be a little in the past.
GRACE = 60 * _SECOND
MAX_CRON = 128

_UNITS = {"second": _SECOND, "minute": _MINUTE, "hour": _HOUR, "day": _DAY, "week": 7 * _DAY}
_RUN_AFTER = re.compile(r"([0-9]{1,9}) (second|minute|hour|day|week)s?", re.IGNORECASE)
_RUN_AFTER_FORMS = '"45 seconds", "30 minutes", "2 hours", "1 day" or "1 week"'


# Each field of a cron expression, with the number of its values.
_FIELDS = {"minute": 60, "hour": 24, "day": 31, "month": 12, "weekday": 7}
_STEP = re.compile(r"/([0-9]+)")


@dataclass(frozen=True, slots=True)
class Schedule:
    """The time columns of a plan. A one-time plan keeps `scheduled_at` after it has fired."""

    next_at: Millis
    cron: str | None = None
    scheduled_at: Millis | None = None
    run_after: str | None = None


def read_schedule(
    run_after: str | None, scheduled_at: str | None, cron: str | None, timezone: str, now: Millis
) -> Schedule:
    given = {"runAfter": run_after, "scheduledAt": scheduled_at, "cron": cron}
    named = [name for name, text in given.items() if text is not None]
    if len(named) != 1:
        found = "none is given" if not named else f"{' and '.join(named)} are given"
        raise _refused("A plan", f"needs exactly one of runAfter, scheduledAt and cron; {found}")
    if run_after is not None:
        at = now + parse_run_after(run_after)
        return Schedule(at, scheduled_at=at, run_after=" ".join(run_after.split()))
    if scheduled_at is not None:
        at = parse_scheduled_at(scheduled_at, now)
        return Schedule(at, scheduled_at=at)
    assert cron is not None
    expression, at = parse_cron(cron, timezone, now)
    return Schedule(at, cron=expression)


def parse_run_after(text: str) -> Millis:
    found = _RUN_AFTER.fullmatch(" ".join(text.split()))
    if found is None or int(found[1]) == 0:
        raise _refused("runAfter", f"should be a whole number of at least 1 and a unit, like {_RUN_AFTER_FORMS}")
    millis = int(found[1]) * _UNITS[found[2].lower()]
    if millis > MAX_AHEAD:
        raise _refused("runAfter", "is more than five years ahead; choose an earlier time")
    return millis


def parse_scheduled_at(text: str, now: Millis) -> Millis:
    """A time that has just passed counts as now."""
    try:
        at = parse_iso(text.strip())
    except (ValueError, OverflowError):
        raise _refused(
            "scheduledAt", f'should be a date and time with a time zone, like "{iso(now + _HOUR)}" (an hour from now)'
        ) from None
    if at < now - GRACE:
        raise _refused("scheduledAt", f"is in the past; it is now {iso(now)}")
    if at > now + MAX_AHEAD:
        raise _refused("scheduledAt", "is more than five years ahead; choose an earlier time")
    return max(at, now)


def parse_cron(text: str, timezone: str, now: Millis) -> tuple[str, Millis]:
    """The normalized expression, and when it first fires."""
    fields = text.split()
    expression = " ".join(fields)
    if len(fields) != len(_FIELDS) or len(expression) > MAX_CRON:
        raise _bad_cron(f"has {len(fields)} fields, {len(expression)} characters", timezone)
    for (name, values), field in zip(_FIELDS.items(), fields, strict=True):
        for step in _STEP.findall(field):
            # `*/90` in the minutes looks like "every 90 minutes" but would fire every hour.
            if int(step) >= values:
                raise _bad_cron(f"has a step of {step} in its {name} field, which has {values} values", timezone)
    try:
        first = _first_after(expression, timezone, now)
    except CronSimError as error:
        raise _bad_cron(f"cannot be read ({error})", timezone) from None
    if first is None:
        raise _bad_cron("matches no date", timezone)
    return expression, first


def next_cron(expression: str, timezone: str, after: Millis) -> Millis | None:
    """Daylight saving time: a time in a skipped hour fires at its end; a time in a repeated hour fires once. None if
    no time matches within fifty years, or if an imported expression is invalid."""
    try:
        return _first_after(expression, timezone, after)
    except CronSimError:
        return None


def _first_after(expression: str, timezone: str, after: Millis) -> Millis | None:
    start = datetime.fromtimestamp(after // 1000, ZoneInfo(timezone))
    for time in CronSim(expression, start):
        at = int(time.timestamp()) * _SECOND
        # Within a repeated hour, cronsim returns the first occurrence.
        if at > after:
            return at
    return None


def _bad_cron(problem: str, timezone: str) -> Invalid:
    return _refused(
        "cron",
        f"{problem}. Use five fields (minute hour day month weekday), read in {timezone}: "
        '"0 9 * * 1-5" is 09:00 on weekdays, "*/15 * * * *" every 15 minutes',
    )


def _refused(what: str, problem: str) -> Invalid:
    return Invalid("invalid_schedule", f"{what} {problem}.")
