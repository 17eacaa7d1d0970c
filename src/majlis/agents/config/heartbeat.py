"""When an agent wakes by itself (P6), and the time zones that this and its plans are read in."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Self
from zoneinfo import available_timezones

from pydantic import AfterValidator, Field, model_validator

from majlis.agents.config.types import Matching, Maybe, Wire, refusal


@cache
def _timezones() -> frozenset[str]:
    return frozenset(available_timezones())


def _known_timezone(name: str) -> str:
    if name in _timezones():
        return name
    raise refusal('should be an IANA time zone, for example "UTC" or "Asia/Baghdad"')


Timezone = Annotated[str, AfterValidator(_known_timezone)]
TimeOfDay = Annotated[str, Matching(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]", 'should be a time from "00:00" to "23:59"')]


class ActiveHours(Wire):
    """From the first time up to, not including, the second; 22:00 to 06:00 is a night."""

    start: Annotated[TimeOfDay, Field(alias="from")]
    end: Annotated[TimeOfDay, Field(alias="to")]

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.start == self.end:
            raise refusal('should differ from "from"; leave activeHours out for the whole day', "to")
        return self


class Heartbeat(Wire):
    every_minutes: Annotated[int, Field(ge=1, le=7 * 24 * 60)]
    active_hours: Maybe[ActiveHours] = None
    """Left out: the whole day."""
    timezone: Maybe[Timezone] = None
    """Of the active hours. Left out: the agent's own time zone."""
