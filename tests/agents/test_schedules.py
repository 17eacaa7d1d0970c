"""P3, P4: parsing the times of plans. An invalid time is refused with helpful advice."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from majlis.agents.schedules import (
    GRACE,
    MAX_AHEAD,
    next_cron,
    parse_cron,
    parse_run_after,
    parse_scheduled_at,
    read_schedule,
)
from majlis.clock import Millis, iso, parse_iso
from majlis.errors import Invalid

NOW = parse_iso("2026-02-18T15:07:00.250Z")
SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def times(cron: str, zone: str, after: str, count: int) -> list[str]:
    """The next times, as local time."""
    at: Millis | None = parse_iso(after)
    found = []
    for _ in range(count):
        assert at is not None
        at = next_cron(cron, zone, at)
        assert at is not None
        found.append(f"{datetime.fromtimestamp(at / 1000, ZoneInfo(zone)):%Y-%m-%d %H:%M%z}")
    return found


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("45 seconds", 45 * SECOND),
        ("1 second", SECOND),
        ("30 minutes", 30 * MINUTE),
        ("1 minute", MINUTE),
        ("2 hours", 2 * HOUR),
        ("1 day", DAY),
        ("1 week", 7 * DAY),
        ("2 Weeks", 14 * DAY),
        (" 10  minute ", 10 * MINUTE),
        ("1830 days", 1830 * DAY),
    ],
)
def test_p3_run_after_reads_a_number_and_a_unit(text: str, millis: int) -> None:
    assert parse_run_after(text) == millis


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "0 minutes",
        "-5 minutes",
        "1.5 hours",
        "two hours",
        "5",
        "minutes",
        "5 fortnights",
        "1 month",
        "2 hours 30 minutes",
        "PT2H",
        "٣ minutes",
        "1831 days",
        "999999999 weeks",
        "9" * 5000 + " days",
        "1 hour\x00",
    ],
)
def test_p3_run_after_refuses_anything_else(text: str) -> None:
    with pytest.raises(Invalid, match="runAfter"):
        parse_run_after(text)


def test_p3_a_refusal_shows_the_forms_that_are_right() -> None:
    with pytest.raises(Invalid, match='"45 seconds", "30 minutes", "2 hours", "1 day" or "1 week"'):
        parse_run_after("in a while")


@pytest.mark.parametrize(
    "text", ["2026-02-18T17:07:00Z", "2026-02-18T18:07:00+01:00", "2026-02-18 17:07:00.000Z", "20260218T170700Z"]
)
def test_p3_scheduled_at_is_a_moment_with_a_zone(text: str) -> None:
    assert iso(parse_scheduled_at(text, NOW)) == "2026-02-18T17:07:00.000Z"


def test_p3_a_moment_that_has_just_passed_is_now_since_models_read_an_older_clock() -> None:
    assert parse_scheduled_at(iso(NOW - GRACE), NOW) == NOW
    with pytest.raises(Invalid, match=r"is in the past; it is now 2026-02-18T15:07:00\.250Z"):
        parse_scheduled_at(iso(NOW - GRACE - 1), NOW)


def test_p3_scheduled_at_reaches_five_years_ahead() -> None:
    assert parse_scheduled_at(iso(NOW + MAX_AHEAD), NOW) == NOW + MAX_AHEAD
    with pytest.raises(Invalid, match="five years"):
        parse_scheduled_at(iso(NOW + MAX_AHEAD + 1), NOW)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tomorrow",
        "2026-02-19",
        "2026-02-19T09:00:00",
        "2026-02-30T09:00:00Z",
        "2026-02-19T25:00:00Z",
        "1771513200",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "2026-02-19T09:00:00 Berlin",
    ],
)
def test_p3_scheduled_at_refuses_invalid_times_and_times_without_a_zone(text: str) -> None:
    with pytest.raises(Invalid, match="scheduledAt"):
        parse_scheduled_at(text, NOW)


@pytest.mark.parametrize(
    ("run_after", "scheduled_at", "cron"),
    [
        (None, None, None),
        ("1 day", "2026-02-19T09:00:00Z", None),
        ("1 day", None, "0 9 * * *"),
        (None, "2026-02-19T09:00:00Z", "0 9 * * *"),
        ("1 day", "2026-02-19T09:00:00Z", "0 9 * * *"),
    ],
)
def test_p3_a_plan_has_exactly_one_time(run_after: str | None, scheduled_at: str | None, cron: str | None) -> None:
    with pytest.raises(Invalid, match="exactly one of runAfter, scheduledAt and cron"):
        read_schedule(run_after, scheduled_at, cron, "UTC", NOW)


def test_p3_cron_is_read_in_the_agents_time_zone() -> None:
    assert times("0 9 * * *", "UTC", "2026-02-18T15:07:00Z", 1) == ["2026-02-19 09:00+0000"]
    assert times("0 9 * * *", "Asia/Baghdad", "2026-02-18T15:07:00Z", 1) == ["2026-02-19 09:00+0300"]
    assert times("0 9 * * *", "Asia/Kathmandu", "2026-02-18T15:07:00Z", 1) == ["2026-02-19 09:00+0545"]


def test_p4_the_next_time_is_after_the_moment_itself_not_at_it() -> None:
    nine = parse_iso("2026-02-19T09:00:00Z")
    assert next_cron("0 9 * * *", "UTC", nine - 1) == nine
    assert next_cron("0 9 * * *", "UTC", nine) == nine + DAY
    assert next_cron("0 9 * * *", "UTC", nine + 999) == nine + DAY


def test_p4_a_time_that_summer_time_skips_runs_when_the_hour_is_over() -> None:
    """In Berlin 29 March 2026 has no time from 02:00 to 03:00."""
    expected = ["2026-03-28 02:30+0100", "2026-03-29 03:00+0200", "2026-03-30 02:30+0200"]
    assert times("30 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", 3) == expected


def test_p4_a_time_that_comes_twice_runs_once_and_not_again_from_within_the_second_hour() -> None:
    """In Berlin 25 October 2026 has the time from 02:00 to 03:00 twice."""
    expected = ["2026-10-25 02:30+0200", "2026-10-26 02:30+0100"]
    assert times("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2) == expected
    # The second 02:10: the next time must be in the future.
    assert times("30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", 1) == ["2026-10-26 02:30+0100"]


def test_p4_every_quarter_of_an_hour_is_every_quarter_of_an_hour_through_both_changes() -> None:
    for start in ("2026-03-29T00:00:00Z", "2026-10-24T23:00:00Z"):
        after = parse_iso(start)
        for n in range(1, 20):
            found = next_cron("*/15 * * * *", "Europe/Berlin", after + (n - 1) * 15 * MINUTE)
            assert found == after + n * 15 * MINUTE


def test_p4_the_31st_skips_short_months_and_l_is_each_months_last_day() -> None:
    assert times("0 9 31 * *", "UTC", "2026-01-31T10:00:00Z", 3) == [
        "2026-03-31 09:00+0000",
        "2026-05-31 09:00+0000",
        "2026-07-31 09:00+0000",
    ]
    assert times("0 9 L * *", "UTC", "2028-01-31T10:00:00Z", 2) == ["2028-02-29 09:00+0000", "2028-03-31 09:00+0000"]


def test_p4_the_leap_day_comes_in_leap_years() -> None:
    assert times("0 9 29 2 *", "UTC", "2026-02-18T15:07:00Z", 2) == ["2028-02-29 09:00+0000", "2032-02-29 09:00+0000"]
    assert times("0 9 29 2 *", "UTC", "2096-03-01T00:00:00Z", 1) == ["2104-02-29 09:00+0000"]


def test_p4_working_days() -> None:
    expected = ["2026-02-20 09:00+0000", "2026-02-23 09:00+0000"]
    assert times("0 9 * * MON-FRI", "UTC", "2026-02-19T10:00:00Z", 2) == expected


@pytest.mark.parametrize(
    "cron",
    [
        "",
        "9",
        "@daily",
        "0 9 * *",
        "0 9 * * * *",
        "*/5 0 9 * * *",
        "60 9 * * *",
        "0 24 * * *",
        "0 9 0 * *",
        "0 9 * 13 *",
        "0 9 * * 8",
        "a b c d e",
        "0 9 30 2 *",
        "0 9 31 4,6,9,11 *",
        "0 9 * * 5-1",
        "*/0 * * * *",
        "*/90 * * * *",
        "0 */24 * * *",
        "0 9 ? * *",
        "0\x00 9 * * *",
        "٣ 9 * * *",
        "-1 9 * * *",
        f"{','.join(['0'] * 99)} 9 * * *",
        "9" * 5000 + " 9 * * *",
    ],
)
def test_p3_a_cron_that_cannot_be_read_or_never_fires_is_refused(cron: str) -> None:
    with pytest.raises(Invalid, match=r"cron .* read in Europe/Berlin"):
        parse_cron(cron, "Europe/Berlin", NOW)


def test_p3_a_cron_is_kept_with_single_spaces() -> None:
    assert parse_cron(" 0  9 * *\n* ", "UTC", NOW) == ("0 9 * * *", parse_iso("2026-02-19T09:00:00Z"))


FIELDS = st.text("0123456789*/,-LW#MON", min_size=1, max_size=5)


@given(st.lists(FIELDS, min_size=4, max_size=6).map(" ".join) | st.text(max_size=40))
def test_p3_any_text_is_either_a_cron_with_a_time_ahead_or_refused(text: str) -> None:
    try:
        expression, first = parse_cron(text, "Europe/Berlin", NOW)
    except Invalid:
        return
    assert first > NOW
    assert next_cron(expression, "Europe/Berlin", first - 1) == first


@given(
    st.sampled_from(["Europe/Berlin", "America/New_York", "Africa/Cairo", "America/Havana", "Antarctica/Troll", "UTC"]),
    st.integers(0, 59),
    st.integers(0, 23),
    st.integers(NOW, NOW + 400 * DAY),
)
def test_p4_a_daily_time_comes_once_on_every_day_of_any_zone(zone: str, minute: int, hour: int, after: Millis) -> None:
    moments = [after]
    for _ in range(5):
        at = next_cron(f"{minute} {hour} * * *", zone, moments[-1])
        assert at is not None
        moments.append(at)
    days = [datetime.fromtimestamp(at / 1000, ZoneInfo(zone)).date().toordinal() for at in moments[1:]]
    assert all(later - earlier == 1 for earlier, later in pairwise(days))


@given(st.text(max_size=40))
def test_p3_any_text_as_a_moment_or_a_delay_is_either_ahead_or_refused(text: str) -> None:
    for run_after, scheduled_at in ((text, None), (None, text)):
        try:
            assert NOW <= read_schedule(run_after, scheduled_at, None, "UTC", NOW).next_at <= NOW + MAX_AHEAD
        except Invalid:
            continue
