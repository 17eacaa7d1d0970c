"""D2: the events of an outside agent are sent to its webhook, with their leases."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

import majlis.webhooks.agent_events
from majlis.settings import Settings
from tests.api.test_bad_input import assert_error
from tests.conditions import until
from tests.outside.program import LEASE_SECONDS, Program, outside, refused
from tests.runs.house import House
from tests.webhooks.receiver import Received, Receiver, open_receiver
from tests.world import serve_world


@pytest.fixture
async def receiver(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Receiver]:
    monkeypatch.setattr(majlis.webhooks.agent_events, "_EVERY_SECONDS", 0.05)
    async with open_receiver() as opened:
        yield opened


@pytest.fixture
def settings(settings: Settings, receiver: Receiver) -> Settings:
    return settings.model_copy(update={"tool_private_hosts": [receiver.host]})


async def hooked(house: House, receiver: Receiver, program: Program) -> Any:
    body = {"url": receiver.url, "agentId": program.id}
    return await house.owner.ok("POST", "/api/outgoing-webhooks", body)


def event_of(received: Received) -> Any:
    return received.event["data"]


async def test_d2_an_event_is_sent_signed_with_its_lease_and_answered(house: House, receiver: Receiver) -> None:
    scout = await outside(house)
    hook = await hooked(house, receiver, scout)
    space = await house.space("Project Alpha", scout.agent)
    asked = await house.owner.say(space, "hello")
    [received] = await receiver.until_got(1)
    received.verify(hook["secret"])
    event = event_of(received)
    assert received.event["type"] == "inbox.event"
    assert (event["trigger"]["text"], event["outcome"]) == ("hello", None)
    assert '"hello"  [NEW] ← TRIGGER' in event["context"]
    # It is taken, so a poll does not get it.
    assert await scout.take_all() == []
    question = await scout.send(event, space, "Which one?", wait=True)
    await house.owner.say(space, "the red one", replyTo=question["id"])
    [_, received] = await receiver.until_got(2)
    answer = event_of(received)
    assert (answer["runId"], answer["trigger"]["text"]) == (event["runId"], "the red one")
    assert answer["outcome"]["status"] == "replied"
    await scout.settle(answer)
    assert await house.deliveries(asked) == [("Scout", "done")]
    assert len(receiver.got) == 2


async def test_d2_an_event_that_is_not_accepted_is_sent_again_and_loses_no_attempt(
    house: House, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(majlis.webhooks.agent_events, "back_off", lambda failures: 50)
    scout = await outside(house)
    hook = await hooked(house, receiver, scout)
    space = await house.space("Project Alpha", scout.agent)
    receiver.answer = lambda received: 500 if len(receiver.got) < 5 else 200
    await house.owner.say(space, "hello")
    events = [event_of(each) for each in await receiver.until_got(5)]
    assert len({event["id"] for event in events}) == 1
    assert len({event["lease"] for event in events}) == 5
    # A program that drops known webhook-ids handles each sending, because an old lease has ended.
    assert len({each.id for each in receiver.got}) == 5
    assert refused(await scout.try_send(events[0], space, "Too late."), 409, "lease_ended")
    await scout.send(events[-1], space, "In time.")
    await scout.settle(events[-1])
    [run] = await house.runs(scout.agent)
    assert (run["status"], run["attempts"]) == ("completed", 1)

    async def is_healthy() -> bool:
        [listed] = await house.owner.ok("GET", "/api/outgoing-webhooks")
        return (listed["id"], listed["agentId"], listed["failingSince"]) == (hook["id"], scout.id, None)

    await until(is_healthy)


async def test_d2_a_lease_that_ends_sends_the_event_again(house: House, receiver: Receiver) -> None:
    scout = await outside(house)
    await hooked(house, receiver, scout)
    space = await house.space("Project Alpha", scout.agent)
    await house.owner.say(space, "hello")
    await receiver.until_got(1)
    house.advance(LEASE_SECONDS + 1)
    first, second = [event_of(each) for each in await receiver.until_got(2)]
    assert (first["id"], first["runId"]) == (second["id"], second["runId"])
    assert refused(await scout.try_settle(first), 409, "lease_ended")
    await scout.settle(second)


async def test_d2_two_nodes_send_each_event_once(house: House, receiver: Receiver, settings: Settings) -> None:
    scout = await outside(house, limits={"concurrentRuns": 20})
    await hooked(house, receiver, scout)
    space = await house.space("Project Alpha", scout.agent)
    async with serve_world(settings.model_copy(update={"port": 0})):
        for n in range(8):
            await house.owner.say(space, f"event {n}")
        await receiver.until_got(8)
        for received in list(receiver.got):
            await scout.settle(event_of(received))
    texts = [event_of(received)["trigger"]["text"] for received in receiver.got]
    assert sorted(texts) == [f"event {n}" for n in range(8)]


async def test_d2_a_receiver_that_is_gone_leaves_the_events_for_polls(house: House, receiver: Receiver) -> None:
    scout = await outside(house)
    hook = await hooked(house, receiver, scout)
    space = await house.space("Project Alpha", scout.agent)
    receiver.answer = lambda received: 410
    await house.owner.say(space, "hello")

    async def reason() -> str | None:
        [listed] = await house.owner.ok("GET", "/api/outgoing-webhooks")
        return listed["reason"]  # type: ignore[no-any-return]

    await until(reason)
    assert await reason() == "gone"
    event = await scout.take()
    await scout.settle(event)
    assert len(receiver.got) == 1
    # A new one takes its place.
    assert (await hooked(house, receiver, scout))["id"] != hook["id"]


async def test_d2_a_failure_long_after_another_does_not_count_as_failing_for_a_day(
    house: House, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(majlis.webhooks.agent_events, "back_off", lambda failures: 50)
    scout = await outside(house)
    await hooked(house, receiver, scout)
    space = await house.space("Project Alpha", scout.agent)

    async def failures() -> int:
        return len(receiver.got) if (await hook())["failingSince"] else 0

    async def hook() -> Any:
        [listed] = await house.owner.ok("GET", "/api/outgoing-webhooks")
        return listed

    receiver.answer = lambda received: 500
    await house.owner.say(space, "hello")
    await until(failures)
    # The program asks for the event instead.
    begun = (await hook())["failingSince"]

    events: list[Any] = []

    async def taken() -> list[Any]:
        events.extend(await scout.take_all())
        return events

    await until(taken)
    await scout.settle(events[0])
    house.advance(25 * 3600)
    tries = len(receiver.got)
    await house.owner.say(space, "and again")
    await receiver.until_got(tries + 2)
    listed = await hook()
    assert listed["disabledAt"] is None
    assert listed["failingSince"] > begun
    # From now on it fails for a day.
    for _ in range(28):
        house.advance(3000)
        await receiver.until_got(len(receiver.got) + 1)
    assert (await hook())["disabledAt"] is None
    house.advance(3000)

    async def disabled() -> bool:
        return (await hook())["disabledAt"] is not None

    await until(disabled)


async def test_d2_only_admins_point_the_events_of_an_agent_somewhere(house: House, receiver: Receiver) -> None:
    scout, lively = await outside(house), await house.agent("Lively")
    body = {"url": receiver.url, "agentId": scout.id}
    for caller in (await house.person("Sara"), scout.agent):
        assert_error(await caller.post("/api/outgoing-webhooks", body), 403, "not_allowed")
    owner = house.owner
    for wrong, status, code in (
        ({"agentId": lively.id}, 404, "unknown_agent"),
        ({"events": ["*"]}, 422, "two_targets"),
        ({"url": "http://169.254.169.254/"}, 403, "host_not_allowed"),
        ({"agentId": None}, 422, "no_events"),
    ):
        assert_error(await owner.post("/api/outgoing-webhooks", {**body, **wrong}), status, code)
    await owner.ok("POST", "/api/outgoing-webhooks", body)
    assert_error(await owner.post("/api/outgoing-webhooks", body), 409, "has_webhook")
