"""D2: the lease is the fence. A program that has lost it changes nothing, and no event is lost or answered twice."""

from __future__ import annotations

import asyncio

import pytest

from majlis import clock
from majlis.runs.end.outside_leases import expire_leases
from majlis.settings import Settings
from tests.conditions import until
from tests.outside.program import LEASE_SECONDS, Program, attempts, outside, refused
from tests.runs.house import House
from tests.world import Person, serve_world

pytestmark = pytest.mark.usefixtures("standing_clock")


async def test_d2_a_lease_that_ends_offers_the_event_again_and_the_first_program_can_do_nothing(house: House) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    asked = await house.owner.say(space, "hello")
    first = await scout.take()
    house.advance(LEASE_SECONDS + 1)
    second = await scout.take()
    assert (second["id"], second["runId"]) == (first["id"], first["runId"])
    assert second["lease"] != first["lease"]
    for response in (
        await scout.try_send(first, space, "Too late."),
        await scout.try_renew(first),
        await scout.try_settle(first),
        await scout.try_settle(first, "failed"),
    ):
        assert refused(response, 409, "lease_ended")
    await scout.send(second, space, "In time.")
    await scout.settle(second)
    assert await house.texts(space) == [("Owner", "hello"), ("Scout", "In time.")]
    assert await house.deliveries(asked) == [("Scout", "done")]


async def test_d2_an_ended_lease_is_a_fence_before_anybody_has_noticed_that_it_ended(
    house: House, wake_ups_only: None
) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    await house.owner.say(space, "hello")
    event = await scout.take()
    # Without waking the worker, which would put the run back.
    clock.advance((LEASE_SECONDS + 1) * 1000)
    assert refused(await scout.try_send(event, space, "Too late."), 409, "lease_ended")
    assert refused(await scout.try_renew(event), 409, "lease_ended")
    assert refused(await scout.try_settle(event), 409, "lease_ended")
    assert await house.texts(space) == [("Owner", "hello")]


async def test_d2_a_lease_lasts_60_seconds_and_renewing_or_sending_makes_it_last(house: House) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    await house.owner.say(space, "hello")
    event = await scout.take()
    house.advance(LEASE_SECONDS - 1)
    renewed = (await scout.try_renew(event)).json()
    assert renewed["lease"] == event["lease"]
    assert renewed["leaseUntil"] > event["leaseUntil"]
    house.advance(LEASE_SECONDS - 1)
    await scout.send(event, space, "Still here.")
    house.advance(LEASE_SECONDS - 1)
    await scout.settle(event)


async def test_d2_a_crash_between_send_and_settle_sends_nothing_twice(house: House) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    await house.owner.say(space, "hello")
    first = await scout.take()
    sent = await scout.send(first, space, "Hi.", clientId=f"{first['id']}:1")
    house.advance(LEASE_SECONDS + 1)
    second = await scout.take()
    # The next program sees the message, and its own send with the same client id is the same message.
    assert "Hi." in second["context"]
    repeated = await scout.try_send(second, space, "Hi.", clientId=f"{second['id']}:1")
    assert (repeated.status_code, repeated.json()["id"]) == (200, sent["id"])
    await scout.settle(second)
    assert await house.texts(space) == [("Owner", "hello"), ("Scout", "Hi.")]


async def test_d2_the_old_program_may_repeat_a_send_that_worked(house: House) -> None:
    """It lost the response. The message is there, so it learns so, although its lease is over."""
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    await house.owner.say(space, "hello")
    event = await scout.take()
    sent = await scout.send(event, space, "Hi.", clientId="c1")
    await scout.settle(event)
    repeated = await scout.try_send(event, space, "Hi.", clientId="c1")
    assert (repeated.status_code, repeated.json()["id"]) == (200, sent["id"])
    assert refused(await scout.try_send(event, space, "Hi again.", clientId="c2"), 409, "lease_ended")


async def test_d2_an_event_that_no_program_settles_fails_after_its_attempts(house: House) -> None:
    scout = await outside(house, limits={"attempts": 3})
    space = await house.space("Project Alpha", scout.agent)
    asked = await house.owner.say(space, "hello")
    for n in range(3):
        event = await scout.take()
        assert await attempts(house, event) == n + 1
        house.advance(LEASE_SECONDS + 1)
    await until(lambda: _is(house, event["runId"], "failed"))
    assert await scout.take_all() == []
    assert await house.deliveries(asked) == [("Scout", "failed")]
    assert (await house.texts(space))[-1][1] == "Scout couldn't answer. An admin has been notified."
    # A member can have it tried again.
    await house.owner.ok("POST", f"/api/messages/{asked['id']}/deliveries/{scout.id}/retry")
    again = await scout.take()
    assert again["id"] == event["id"]
    await scout.settle(again)
    assert await house.deliveries(asked) == [("Scout", "done")]


async def test_d2_two_nodes_that_notice_the_end_of_a_lease_together_offer_it_once(
    house: House, settings: Settings
) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    await house.owner.say(space, "hello")
    first = await scout.take()
    async with serve_world(settings.model_copy(update={"workers": 0})) as other:
        house.advance(LEASE_SECONDS + 1)
        dbs = [house.world.gateway.db, other.gateway.db]
        await asyncio.gather(*(db.write(expire_leases, 10) for db in dbs * 3))
        there = Program(Person(other.base_url, scout.agent.token, scout.id, "Scout"))
        taken = await asyncio.gather(*(each.take_all() for each in (scout, there) * 3))
        await there.agent.http.aclose()
    [second] = [event for events in taken for event in events]
    assert second["runId"] == first["runId"]
    assert await attempts(house, first) == 2


async def test_d2_a_send_that_races_with_the_end_of_its_lease_is_in_time_or_refused(house: House) -> None:
    scout = await outside(house, limits={"attempts": 10})
    space = await house.space("Project Alpha", scout.agent)
    await house.owner.say(space, "hello")
    db = house.world.gateway.db
    for n in range(4):
        event = await scout.take()
        house.advance(LEASE_SECONDS + n % 2)
        response, _ = await asyncio.gather(scout.try_send(event, space, f"try {n}"), db.write(expire_leases, 10))
        assert response.status_code in (201, 409)
        posted = (await house.texts(space)).count(("Scout", f"try {n}"))
        assert posted == (1 if response.status_code == 201 else 0)
        house.advance(LEASE_SECONDS + 1)
    await scout.settle(await scout.take())


async def test_d2_settling_twice_at_once_settles_once(house: House) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    asked = await house.owner.say(space, "hello")
    event = await scout.take()
    responses = await asyncio.gather(*(scout.try_settle(event, state) for state in ("done", "passed") * 4))
    [won] = {response.json()["state"] for response in responses if response.status_code == 200}
    assert [response.status_code for response in responses].count(409) == 4
    assert await house.deliveries(asked) == [("Scout", won)]


async def _is(house: House, run_id: str, status: str) -> bool:
    return bool((await house.run(run_id))["status"] == status)
