"""When a heartbeat next wakes its agent (P6). Pure, like `schedules`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from itertools import count
from typing import Any
from zoneinfo import ZoneInfo

from majlis.agents.config.heartbeat import ActiveHours, Heartbeat
from majlis.clock import Millis

_MINUTE = 60_000


def first_beat(config: Mapping[str, Any], now: Millis) -> Millis | None:
    """`config` in its stored form; None without a heartbeat."""
    heartbeat = _heartbeat(config)
    return None if heartbeat is None else next_beat(heartbeat, config["timezone"], now)


def following_beat(config: Mapping[str, Any], last: Millis, now: Millis) -> Millis | None:
    """In the rhythm of the last beat, however late that was noticed; those missed meanwhile are left out."""
    heartbeat = _heartbeat(config)
    if heartbeat is None:
        return None
    every = heartbeat.every_minutes * _MINUTE
    return next_beat(heartbeat, config["timezone"], last + max(now - last, 0) // every * every)


def next_beat(heartbeat: Heartbeat, timezone: str, after: Millis) -> Millis:
    """One period later, or when the active hours next begin."""
    at = after + heartbeat.every_minutes * _MINUTE
    hours = heartbeat.active_hours
    if hours is None:
        return at
    zone = ZoneInfo(heartbeat.timezone or timezone)
    return at if _within(hours, at, zone) else _opening(hours, at, zone)


def _heartbeat(config: Mapping[str, Any]) -> Heartbeat | None:
    given = config["heartbeat"]
    return None if given is None else Heartbeat.model_validate(given)


def _within(hours: ActiveHours, at: Millis, zone: ZoneInfo) -> bool:
    clock = f"{_local(at, zone):%H:%M}"
    if hours.start < hours.end:
        return hours.start <= clock < hours.end
    return clock >= hours.start or clock < hours.end


def _opening(hours: ActiveHours, after: Millis, zone: ZoneInfo) -> Millis:
    """A day whose active hours fall wholly into the hour that summer time skips has none: then the day after."""
    today = _local(after, zone).date()
    start = time.fromisoformat(hours.start)
    openings = (datetime.combine(today + timedelta(days=days), start, zone) for days in count())
    moments = (int(opening.timestamp()) * 1000 for opening in openings)
    return next(at for at in moments if at >= after and _within(hours, at, zone))


def _local(at: Millis, zone: ZoneInfo) -> datetime:
    return datetime.fromtimestamp(at // 1000, UTC).astimezone(zone)
