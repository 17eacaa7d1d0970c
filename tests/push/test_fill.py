"""The queue is filled from all spaces, with what is recent."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

import majlis.push.fill
from majlis import clock
from majlis.entities.preferences import Preferences, preferences_of
from majlis.push.fill import fill_queue
from majlis.push.send import PushSender
from majlis.store.tables import events, push_cursors, push_subscriptions, pushes, spaces
from majlis.store.transactions import Tx
from tests.push.browser import Browser, admin
from tests.webhooks.receiver import Receiver
from tests.world import World

pytestmark = pytest.mark.usefixtures("asleep")


async def count(world: World, table: sa.Table) -> int:
    statement = sa.select(sa.func.count()).select_from(table)
    return int(await world.gateway.db.read(lambda tx: tx.execute(statement).scalar_one()))


async def test_no_space_starves_while_others_are_busy(world: World, service: Receiver, sender: PushSender) -> None:
    """A transaction reads a part of the spaces. The next part follows at once, not when the first ones are quiet."""
    sara = await admin(world, "Sara")
    more = majlis.push.fill._PLACES_AT_ONCE + 2
    places = [await world.owner.create_space(f"Space {n}", sara) for n in range(more)]
    phone = Browser(service)
    await phone.subscribe(sara)
    for n, space in enumerate(places):
        await world.owner.say(space, f"@Sara {n}")
    await sender.send_due()
    assert await count(world, pushes) == len(places)


async def test_a_cursor_that_is_far_behind_skips_what_is_too_old(
    world: World, service: Receiver, sender: PushSender
) -> None:
    sara = await admin(world, "Sara")
    space = await world.owner.create_space("Plans", sara)
    await Browser(service).subscribe(sara)
    old = {"topic": space, "type": "space.changed", "data": "{}", "at": clock.now() - 3_600_000}

    def history(tx: Tx) -> None:
        """As after days without a subscription. The oldest events are deleted."""
        tx.execute(events.delete().where(events.c.topic == space))
        tx.execute(events.insert(), [{**old, "seq": seq} for seq in range(1500, 5000)])
        tx.execute(spaces.update().where(spaces.c.id == space).values(event_seq=4999))
        tx.execute(push_cursors.delete())
        tx.execute(push_cursors.insert().values(space_id=space, seq=10))

    await world.gateway.db.write(history)
    await world.owner.say(space, "@Sara look")
    await world.owner.say(space, "@Sara again")
    await world.gateway.db.write(fill_queue)
    assert await count(world, pushes) == 2


async def test_preferences_are_read_once_for_each_person(
    world: World, service: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = [await admin(world, name) for name in ("Huda", "Sara")]
    places = [await world.owner.create_space(name, *people) for name in ("Plans", "Garden")]
    for person in people:
        for device in ("phone", "tablet"):
            await Browser(service, f"{person.name}-{device}").subscribe(person)
    read: list[Any] = []

    def noted(value: object) -> Preferences:
        read.append(value)
        return preferences_of(value)

    monkeypatch.setattr(majlis.push.fill, "preferences_of", noted)
    for space in places:
        for n in range(3):
            await world.owner.say(space, f"@Huda @Sara {n}")
    await world.gateway.db.write(fill_queue)
    assert await count(world, pushes) == 2 * 2 * 2 * 3
    assert len(read) == len(people)


@pytest.mark.usefixtures("standing_clock")
async def test_subscriptions_of_ended_sessions_are_removed_once_a_minute(
    world: World, service: Receiver, sender: PushSender
) -> None:
    sara = await admin(world, "Sara")
    space = await world.owner.create_space("Plans", sara)
    await Browser(service).subscribe(sara)
    await world.owner.say(space, "@Sara before")
    assert await sender.send_due() == 1
    await world.owner.ok("DELETE", f"/api/entities/{sara.id}/access")
    for seconds, left in ((0, 1), (59, 1), (1, 0)):
        clock.advance(1000 * seconds)
        await world.owner.say(space, "@Sara after")
        # No push goes to the browser that is left.
        assert await sender.send_due() == 0
        assert await count(world, push_subscriptions) == left
