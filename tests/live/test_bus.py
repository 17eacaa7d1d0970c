"""One conformance suite for both buses: in-process, and NATS with a bus on each side."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable

import pytest

from majlis.live.bus import Bus, InProcessBus
from majlis.live.nats_bus import NatsBus
from tests.conditions import PATIENCE_SECONDS, until
from tests.nats_servers import NatsServer


class Inbox:
    """Collects the payloads of a subscriber and lets a test wait for them."""

    def __init__(self) -> None:
        self.got: list[bytes] = []
        self._changed = asyncio.Event()

    def __call__(self, payload: bytes) -> None:
        self.got.append(payload)
        self._changed.set()

    async def until(self, done: Callable[[list[bytes]], bool]) -> list[bytes]:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not done(self.got):
                self._changed.clear()
                await self._changed.wait()
        return self.got


@pytest.fixture(params=["in-process", "nats, same process", "nats, two processes"])
async def sides(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Bus, Bus]]:
    """(publisher, listener)"""
    if request.param == "in-process":
        bus: Bus = InProcessBus()
        yield bus, bus
        return
    url = request.getfixturevalue("nats_url")
    namespace = uuid.uuid4().hex[:8]
    here, there = NatsBus(url, namespace), NatsBus(url, namespace)
    await here.start()
    await there.start()
    yield (here, here if request.param == "nats, same process" else there)
    await here.close()
    await there.close()


async def subscribed(publisher: Bus, listener: Bus, subject: str, inbox: Inbox) -> Callable[[], None]:
    """A subscription takes a moment to reach the server: publishes greetings until one arrives, then clears the
    inbox."""
    stop = listener.subscribe(subject, inbox)

    def greeted() -> bool:
        publisher.publish(subject, b"greeting")
        return bool(inbox.got)

    await until(greeted)
    publisher.publish(subject, b"start")
    await inbox.until(lambda got: b"start" in got)
    inbox.got.clear()
    return stop


async def test_messages_arrive_once_and_in_the_order_of_one_publisher(sides: tuple[Bus, Bus]) -> None:
    publisher, listener = sides
    inbox = Inbox()
    await subscribed(publisher, listener, "events.1", inbox)
    for n in range(500):
        publisher.publish("events.1", b"%d" % n)
    assert await inbox.until(lambda got: len(got) >= 500) == [b"%d" % n for n in range(500)]


async def test_a_subscriber_hears_its_subject_only(sides: tuple[Bus, Bus]) -> None:
    publisher, listener = sides
    one, other = Inbox(), Inbox()
    await subscribed(publisher, listener, "events.1", one)
    await subscribed(publisher, listener, "events.2", other)
    publisher.publish("events.2", b"for the other")
    publisher.publish("events.1", b"for the one")
    await one.until(lambda got: b"for the one" in got)
    await other.until(lambda got: b"for the other" in got)
    assert one.got == [b"for the one"]
    assert other.got == [b"for the other"]


async def test_an_ended_subscription_hears_nothing_more(sides: tuple[Bus, Bus]) -> None:
    publisher, listener = sides
    ended, witness = Inbox(), Inbox()
    stop = await subscribed(publisher, listener, "events.1", ended)
    await subscribed(publisher, listener, "events.1", witness)
    ended.got.clear()
    stop()
    publisher.publish("events.1", b"anybody?")
    await witness.until(lambda got: b"anybody?" in got)
    assert ended.got == []


async def test_a_subscriber_that_fails_costs_the_others_nothing(sides: tuple[Bus, Bus]) -> None:
    publisher, listener = sides
    inbox = Inbox()

    def fail(_: bytes) -> None:
        raise RuntimeError("broken subscriber")

    listener.subscribe("events.1", fail)
    await subscribed(publisher, listener, "events.1", inbox)
    publisher.publish("events.1", b"still here")
    await inbox.until(lambda got: b"still here" in got)


async def test_two_gateways_on_one_nats_server_do_not_hear_each_other(nats_url: str) -> None:
    ours, theirs = NatsBus(nats_url, "ours"), NatsBus(nats_url, "theirs")
    await ours.start()
    await theirs.start()
    inbox, foreign = Inbox(), Inbox()
    await subscribed(ours, ours, "events.1", inbox)
    await subscribed(theirs, theirs, "events.1", foreign)
    ours.publish("events.1", b"private")
    theirs.publish("events.1", b"last")
    await foreign.until(lambda got: b"last" in got)
    assert b"private" not in foreign.got
    await ours.close()
    await theirs.close()


async def test_nats_that_goes_away_is_reported_and_used_again_when_it_is_back(nats_server: NatsServer) -> None:
    here, there = NatsBus(nats_server.url, "x"), NatsBus(nats_server.url, "x")
    await here.start()
    await there.start()
    inbox = Inbox()
    await subscribed(here, there, "events.1", inbox)
    assert here.problem() is None
    nats_server.stop()
    await until(here.problem)
    here.publish("events.1", b"lost or late, but no error")
    nats_server.start()
    await until(lambda: not here.problem() and not there.problem())

    def greeted() -> bool:
        here.publish("events.1", b"back")
        return b"back" in inbox.got

    await until(greeted)
    await here.close()
    await there.close()


async def test_a_bus_starts_without_its_server_and_says_so() -> None:
    bus = NatsBus("nats://127.0.0.1:9", "x")
    await bus.start()
    inbox = Inbox()
    bus.subscribe("events.1", inbox)
    bus.publish("events.1", b"at home")
    assert inbox.got == [b"at home"]
    assert "cannot reach NATS" in (bus.problem() or "")
    await bus.close()
