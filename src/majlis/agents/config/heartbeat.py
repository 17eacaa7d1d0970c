"""The heartbeat of an agent: its settings, and when it fires next (P6)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from itertools import count
from typing import Annotated, Any, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, model_validator

from majlis.agents.config.types import Matching, Maybe, Wire, refusal
from majlis.clock import Millis, is_timezone

_MINUTE = 60_000


def _known_timezone(name: str) -> str:
    if is_timezone(name):
        return name
    raise refusal('should be an IANA time zone, for example "UTC" or "Asia/Baghdad"')


Timezone = Annotated[str, AfterValidator(_known_timezone)]
TimeOfDay = Annotated[str, Matching(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]", 'should be a time from "00:00" to "23:59"')]


class ActiveHours(Wire):
    """From the first time (inclusive) to the second (exclusive); 22:00 to 06:00 spans midnight."""

    start: Annotated[TimeOfDay, Field(alias="from")]
    end: Annotated[TimeOfDay, Field(alias="to")]

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.start == self.end:
            raise refusal('should differ from "from"; omit activeHours for the whole day', "to")
        return self


class Heartbeat(Wire):
    every_minutes: Annotated[int, Field(ge=1, le=7 * 24 * 60)]
    active_hours: Maybe[ActiveHours] = None
    """Default: the whole day."""
    timezone: Maybe[Timezone] = None
    """For the active hours. Default: the agent's time zone."""


def first_beat(config: Mapping[str, Any], now: Millis) -> Millis | None:
    """`config` is the stored form; None without a heartbeat."""
    return following_beat(config, now, now)


def following_beat(config: Mapping[str, Any], last: Millis, now: Millis) -> Millis | None:
    """Stays in phase with the last beat, however late it fired, and skips missed beats."""
    if config["heartbeat"] is None:
        return None
    heartbeat = Heartbeat.model_validate(config["heartbeat"])
    every = heartbeat.every_minutes * _MINUTE
    return next_beat(heartbeat, config["timezone"], last + max(now - last, 0) // every * every)


def next_beat(heartbeat: Heartbeat, timezone: str, after: Millis) -> Millis:
    """One period later, or at the next start of the active hours."""
    at = after + heartbeat.every_minutes * _MINUTE
    hours = heartbeat.active_hours
    if hours is None:
        return at
    zone = ZoneInfo(heartbeat.timezone or timezone)
    return at if _within(hours, at, zone) else _opening(hours, at, zone)


def _within(hours: ActiveHours, at: Millis, zone: ZoneInfo) -> bool:
    clock = f"{_local(at, zone):%H:%M}"
    if hours.start < hours.end:
        return hours.start <= clock < hours.end
    return clock >= hours.start or clock < hours.end


def _opening(hours: ActiveHours, after: Millis, zone: ZoneInfo) -> Millis:
    """Skips a day whose active hours all fall into the hour that daylight saving time skips."""
    today = _local(after, zone).date()
    start = time.fromisoformat(hours.start)
    openings = (datetime.combine(today + timedelta(days=days), start, zone) for days in count())
    moments = (int(opening.timestamp()) * 1000 for opening in openings)
    return next(at for at in moments if at >= after and _within(hours, at, zone))


def _local(at: Millis, zone: ZoneInfo) -> datetime:
    return datetime.fromtimestamp(at // 1000, UTC).astimezone(zone)
