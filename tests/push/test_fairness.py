"""Push services that do not respond hold up neither other people's pushes nor the sender."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
import sqlalchemy as sa

import majlis.push.send
from majlis import clock
from majlis.push.fill import fill_queue
from majlis.push.queue import MAX_PER_PERSON
from majlis.push.send import MAX_SENDING, PushSender
from majlis.push.subscriptions import MAX_BROWSERS
from majlis.store.tables import push_subscriptions
from tests.conditions import until
from tests.push.browser import Browser, admin
from tests.webhooks.receiver import Receiver
from tests.world import World

pytestmark = pytest.mark.usefixtures("asleep")


async def test_one_person_holds_a_few_slots_however_many_browsers_do_not_respond(
    world: World, service: Receiver, sender: PushSender
) -> None:
    omar, sara = await admin(world, "Omar"), await admin(world, "Sara")
    space = await world.owner.create_space("Plans", omar, sara)
    for n in range(MAX_BROWSERS):
        await Browser(service, f"omar{n}").subscribe(omar)
    phone = Browser(service, "sara")
    await phone.subscribe(sara)
    service.answer = lambda received: None if "omar" in received.path else 201
    for _ in range(2 * MAX_SENDING // MAX_BROWSERS):
        await world.owner.say(space, "@Omar")
    await world.gateway.db.write(fill_queue)
    await world.owner.say(space, "@Sara look")
    assert await sender.send_due() == MAX_PER_PERSON + 1
    await phone.until_shown("@Sara look")
    await until(lambda: service.held == MAX_PER_PERSON)
    assert await sender.send_due() == 0


async def test_slots_that_become_free_are_used_at_once(world: World, service: Receiver, sender: PushSender) -> None:
    sara = await admin(world, "Sara")
    space = await world.owner.create_space("Plans", sara)
    phone = Browser(service)
    await phone.subscribe(sara)
    said = [f"@Sara {n}" for n in range(MAX_SENDING + 3)]
    for text in said:
        await world.owner.say(space, text)
    sending = asyncio.create_task(sender.send_forever())
    await phone.until_shown(*said)
    sending.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await sending


@pytest.mark.usefixtures("standing_clock")
async def test_a_subscription_that_timed_out_is_left_alone_for_a_growing_while(
    world: World, service: Receiver, sender: PushSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    sara = await admin(world, "Sara")
    space = await world.owner.create_space("Plans", sara)
    slow = Browser(service, "slow")
    await slow.subscribe(sara)
    service.answer = lambda received: None
    monkeypatch.setattr(majlis.push.send, "TIMEOUT_SECONDS", 0.05)

    async def sent() -> int:
        """A new message is due; others may be, too."""
        await world.owner.say(space, "@Sara look")
        count = await sender.send_due()
        await until(lambda: not sender._sending)
        return count

    assert await sent() == 1
    for seconds in (30, 120, 480, 600, 600):
        clock.advance(seconds * 1000 - 1)
        assert await sent() == 0
        clock.advance(1)
        assert await sent() > 0
    service.answer = lambda received: 201
    monkeypatch.setattr(majlis.push.send, "TIMEOUT_SECONDS", 15)
    clock.advance(600_000)
    assert await sent() > 0
    row = await world.gateway.db.read(lambda tx: tx.one(sa.select(push_subscriptions)))
    assert row is not None
    assert (row.failures, row.retry_at) == (0, None)
    assert await sent() > 0
