"""P6: when a heartbeat fires next, and that the row of the agent always holds that time."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from majlis import clock
from majlis.agents.agents import change_agent
from majlis.agents.config.heartbeat import Heartbeat, following_beat, next_beat
from majlis.clock import Millis, iso, parse_iso
from majlis.errors import Invalid
from majlis.store.tables import agents
from majlis.store.transactions import Database
from tests.agents.actors import OWNER, new_agent

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def heartbeat(every: int, start: str | None = None, end: str | None = None, zone: str | None = None) -> Heartbeat:
    hours = None if start is None else {"from": start, "to": end}
    return Heartbeat.model_validate({"everyMinutes": every, "activeHours": hours, "timezone": zone})


def after(beat: Heartbeat, zone: str, moment: str) -> str:
    return iso(next_beat(beat, zone, parse_iso(moment)))[:16]


def test_p6_a_beat_comes_one_period_later() -> None:
    assert after(heartbeat(45), "UTC", "2026-02-18T23:30:00Z") == "2026-02-19T00:15"


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-02-18T08:00:00Z", "2026-02-18T09:00"),  # before the active hours: when they start
        ("2026-02-18T08:30:00Z", "2026-02-18T09:00"),  # exactly when they start
        ("2026-02-18T12:10:00Z", "2026-02-18T12:40"),
        ("2026-02-18T16:30:00Z", "2026-02-19T09:00"),  # 17:00 is outside
        ("2026-02-18T16:29:59Z", "2026-02-18T16:59"),
        ("2026-02-18T20:00:00Z", "2026-02-19T09:00"),
    ],
)
def test_p6_active_hours_of_a_day(moment: str, expected: str) -> None:
    assert after(heartbeat(30, "09:00", "17:00"), "UTC", moment) == expected


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-02-18T12:00:00Z", "2026-02-18T22:00"),
        ("2026-02-18T23:45:00Z", "2026-02-19T00:15"),
        ("2026-02-19T05:15:00Z", "2026-02-19T05:45"),
        ("2026-02-19T05:30:00Z", "2026-02-19T22:00"),
    ],
)
def test_p6_active_hours_of_a_night(moment: str, expected: str) -> None:
    assert after(heartbeat(30, "22:00", "06:00"), "UTC", moment) == expected


def test_p6_the_heartbeats_own_zone_goes_before_the_agents() -> None:
    evening = "2026-02-18T20:00:00Z"
    assert after(heartbeat(30, "09:00", "17:00"), "Asia/Tokyo", evening) == "2026-02-19T00:00"
    assert after(heartbeat(30, "09:00", "17:00", "Asia/Baghdad"), "Asia/Tokyo", evening) == "2026-02-19T06:00"


def test_p6_a_day_begins_by_the_clock_on_the_wall_on_both_sides_of_a_change() -> None:
    day = heartbeat(60, "09:00", "17:00")
    assert after(day, "Europe/Berlin", "2026-03-28T20:00:00Z") == "2026-03-29T07:00"
    assert after(day, "Europe/Berlin", "2026-03-27T20:00:00Z") == "2026-03-28T08:00"
    assert after(day, "Europe/Berlin", "2026-10-24T20:00:00Z") == "2026-10-25T08:00"


def test_p6_hours_that_summer_time_skips_wait_for_the_next_day() -> None:
    assert after(heartbeat(5, "02:10", "02:50"), "Europe/Berlin", "2026-03-28T12:00:00Z") == "2026-03-30T00:10"


@given(
    st.integers(1, 7 * 24 * 60),
    st.integers(0, 1439),
    st.integers(0, 1439),
    st.sampled_from(["UTC", "Europe/Berlin", "America/Havana", "Australia/Lord_Howe", "Asia/Kathmandu"]),
    st.integers(parse_iso("2026-01-01T00:00:00Z"), parse_iso("2027-01-01T00:00:00Z")),
)
def test_p6_a_beat_is_a_period_away_or_more_and_always_within_the_hours(
    every: int, start: int, end: int, zone: str, moment: Millis
) -> None:
    if start == end:
        return
    first, last = (f"{minute // 60:02}:{minute % 60:02}" for minute in (start, end))
    at = next_beat(heartbeat(every, first, last), zone, moment)
    assert moment + every * MINUTE <= at < moment + every * MINUTE + 2 * DAY + HOUR
    wall = f"{datetime.fromtimestamp(at / 1000, ZoneInfo(zone)):%H:%M}"
    assert first <= wall < last if first < last else wall >= first or wall < last


def test_p6_a_beat_that_is_noticed_late_does_not_shift_the_rhythm() -> None:
    config = {"heartbeat": {"everyMinutes": 30}, "timezone": "UTC"}
    noon = parse_iso("2026-02-18T12:00:00Z")
    assert following_beat(config, noon, noon + 900) == noon + 30 * MINUTE
    assert following_beat(config, noon, noon + 30 * MINUTE) == noon + HOUR
    assert following_beat(config, noon, noon + 5 * HOUR + 1) == noon + 5 * HOUR + 30 * MINUTE
    assert following_beat({**config, "heartbeat": None}, noon, noon) is None


async def beat(db: Database, agent: str) -> Millis | None:
    found: Millis | None = await db.read(
        lambda tx: tx.execute(sa.select(agents.c.heartbeat_at).where(agents.c.id == agent)).scalar_one()
    )
    return found


@pytest.mark.parametrize("mind", ["timeline", "consciousness", "roles"])
async def test_p6_the_heartbeat_is_off_by_default_for_every_mind(db: Database, mind: str) -> None:
    assert await beat(db, await new_agent(db, "Quiet", mind=mind)) is None
    before = clock.now()
    at = await beat(db, await new_agent(db, "Lively", mind=mind, heartbeat={"everyMinutes": 10}))
    assert at is not None
    assert before + 10 * MINUTE <= at <= clock.now() + 10 * MINUTE


async def test_p6_a_changed_heartbeat_holds_at_once_and_null_ends_it(db: Database) -> None:
    agent = await new_agent(db)
    await change_agent(db, OWNER, agent, None, {"heartbeat": {"everyMinutes": 10}})
    first = await beat(db, agent)
    assert first is not None
    await change_agent(db, OWNER, agent, None, {"heartbeat": {"everyMinutes": 60}})
    second = await beat(db, agent)
    assert second is not None
    assert second >= first + 50 * MINUTE
    await change_agent(db, OWNER, agent, None, {"heartbeat": None})
    assert await beat(db, agent) is None


@pytest.mark.parametrize("change", [{"instructions": "Be brief."}, {"heartbeat": {"everyMinutes": 10}}, {}])
async def test_p6_a_change_of_something_else_does_not_put_off_the_beat(db: Database, change: dict[str, Any]) -> None:
    agent = await new_agent(db, heartbeat={"everyMinutes": 10})
    before = await beat(db, agent)
    clock.advance(MINUTE)
    await change_agent(db, OWNER, agent, "Renamed", change)
    assert await beat(db, agent) == before


async def test_p6_a_refused_change_leaves_the_beat_alone(db: Database) -> None:
    agent = await new_agent(db, heartbeat={"everyMinutes": 10})
    before = await beat(db, agent)
    for wrong in ({"everyMinutes": 0}, {"everyMinutes": 5, "activeHours": {"from": "25:00", "to": "06:00"}}):
        with pytest.raises(Invalid):
            await change_agent(db, OWNER, agent, None, {"heartbeat": wrong})
    assert await beat(db, agent) == before
