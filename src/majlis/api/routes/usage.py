"""What agents have used and cost, summed."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from majlis import clock
from majlis.api.auth import TheEntry, TheGateway
from majlis.api.bodies import IdText, reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.errors import Invalid
from majlis.runs.view.shapes import UsageReportJson
from majlis.runs.view.usage import Asked, UsageBy, report_usage

router = new_router("usage")

_THIRTY_DAYS = 30 * 86_400_000
Since = Annotated[str | None, Query(alias="from", max_length=40, description="A date or time. Default: 30 days ago.")]
Until = Annotated[
    str | None, Query(alias="to", max_length=40, description="A date, which is included, or a time. Default: now.")
]


@router.get("/api/usage", response_model=UsageReportJson, responses=refusals())
async def report(
    gateway: TheGateway,
    entry: TheEntry,
    by: UsageBy = "agent",
    since: Since = None,
    until: Until = None,
    space_id: Annotated[IdText | None, Query(alias="spaceId", description="Only runs triggered in this space.")] = None,
    cause_id: Annotated[IdText | None, Query(alias="causeId", description="Only runs of this cause.")] = None,
) -> Response:
    """Usage and cost (USD) of the runs you may see; admins see the sums of all runs. Dates and days are in the
    gateway's time zone."""
    zone = gateway.settings.timezone
    now = clock.now()
    begin = now - _THIRTY_DAYS if since is None else _moment("from", since, zone, end=False)
    end = now + 1 if until is None else _moment("to", until, zone, end=True)
    return reply(await entry.read(report_usage, Asked(by, begin, end, zone, space_id, cause_id)))


def _moment(name: str, text: str, zone: str, end: bool) -> clock.Millis:
    try:
        if len(text) == len("2026-02-18"):
            return clock.start_of_day(clock.next_day(text) if end else text, zone)
        # In a URL a + is a space.
        return clock.parse_iso(text.replace(" ", "+"))
    except (ValueError, OverflowError):
        problem = f"{name} must be a date, such as 2026-02-18, or a time, such as 2026-02-18T15:07:00Z."
        raise Invalid("invalid_time", problem, {"path": name}) from None
