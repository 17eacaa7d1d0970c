"""K8, T12, J2: a failed cycle does not change consciousness; its events come again, with what was already done."""

from __future__ import annotations

import asyncio

import pytest

from tests.model_server import Asked, Reply, call, say, sequence, silent
from tests.runs.cycles import conscious, consciousness, done_before, first_requests, inbox, step
from tests.runs.house import House

BUSY = Reply(status=503, text="overloaded")


pytestmark = pytest.mark.usefixtures("standing_clock")


async def test_k8_a_failed_cycle_is_tried_again_with_all_its_events_and_shown_what_was_done(house: House) -> None:
    house.try_models_once()
    husam, scout = await house.person("Husam"), await conscious(house)
    family, dev = await house.space("Family", husam, scout), await house.space("Dev Channel", husam, scout)
    gate = asyncio.Event()
    house.model.script = sequence(
        Reply(text="I read one.", gate=gate),
        call("enter_space", spaceId=dev),
        say("On it"),
        BUSY,
        say("Done"),
        silent("Told them in the dev channel that it is done."),
    )
    await husam.say(family, "one")
    await house.model.until_asked(1)
    asked = [await husam.say(family, "two"), await husam.say(dev, "three")]
    gate.set()
    await house.until_idle()
    assert [run["status"] for run in await house.runs(scout)] == ["completed", "failed"]
    assert [cycle["n"] for cycle in await consciousness(house, scout)] == [1]
    assert [await house.deliveries(each) for each in asked] == [[("Scout", "pending")]] * 2

    house.advance(2)
    await house.until_idle()
    _, failed, again = first_requests(house, "Scout")
    assert inbox(again) == inbox(failed) == ['[Family] Husam (human): "two"', '[Dev Channel] Husam (human): "three"']
    entered, sent = done_before(again)
    assert "You: called enter_space(" in entered
    assert sent.endswith('You: called send_message("On it") in "Dev Channel"')
    # It continues in the space that the failed attempt had entered.
    assert f'ACTIVE SPACE: "Dev Channel" (id: {dev})' in again.last["content"]
    assert await house.texts(dev) == [("Husam", "three"), ("Scout", "On it"), ("Scout", "Done")]
    assert [await house.deliveries(each) for each in asked] == [[("Scout", "done")]] * 2
    kept = await consciousness(house, scout)
    assert [cycle["n"] for cycle in kept] == [1, 2]
    assert 'You: called send_message("On it")' in kept[1]["messages"][0]["content"], "what was done is remembered"


async def test_a5_a_try_after_another_cycle_begins_where_that_cycle_ended(house: House) -> None:
    """The model remembers that it entered that space last."""
    house.try_models_once()
    husam, scout = await house.person("Husam"), await conscious(house)
    family, dev = await house.space("Family", husam, scout), await house.space("Dev Channel", husam, scout)
    house.model.script = sequence(
        BUSY, call("enter_space", spaceId=dev), say("On it"), silent("Answered in the dev channel."), silent()
    )
    await husam.say(family, "one")
    await house.until_idle()
    await husam.say(dev, "two")
    await house.until_idle()
    assert [run["status"] for run in await house.runs(scout)] == ["failed", "completed"]

    house.advance(2)
    await house.until_idle()
    again = first_requests(house, "Scout")[-1]
    assert inbox(again) == ['[Family] Husam (human): "one"']
    assert f'ACTIVE SPACE: "Dev Channel" (id: {dev})' in again.last["content"]


async def test_t12_each_event_has_its_own_attempts_and_every_space_gets_one_notice(house: House) -> None:
    house.try_models_once()
    husam, scout = await house.person("Husam"), await conscious(house, limits={"attempts": 2})
    family, dev = await house.space("Family", husam, scout), await house.space("Dev Channel", husam, scout)
    gates = [asyncio.Event(), asyncio.Event()]
    rest = iter(gates)

    def script(asked: Asked) -> Reply:
        """Waits for the test in each of two orders; fails on "one"."""
        lines = inbox(asked)
        if "[Service: Shop]" in lines[0]:
            return Reply(gate=next(rest))
        parts = call("enter_space", spaceId=dev), say("Here I am"), silent()
        return BUSY if any('"one"' in line for line in lines) else parts[step(asked)]

    house.model.script = script
    await house.tell(scout, 1)
    await house.model.until_asked(1)
    gone = [await husam.say(family, "one"), await husam.say(family, "two"), await husam.say(dev, "three")]
    gates[0].set()
    await house.until_idle()
    assert {(await house.deliveries(each))[0] for each in gone} == {("Scout", "pending")}
    await house.tell(scout, 2)
    await house.model.until_asked(3)
    house.advance(2)
    later = await husam.say(dev, "four")
    gates[1].set()
    await house.until_idle()
    assert len(inbox(house.asked("Scout")[-1])) == 4
    assert {(await house.deliveries(each))[0] for each in gone} == {("Scout", "failed")}
    for space in (family, dev):
        notices = [text for who, text in await house.texts(space) if who == "Majlis"]
        assert len(notices) == 1
        assert notices[0] == "Scout couldn't answer. An admin has been notified."
    # Later events have an attempt left, and are handled without the failed ones.
    assert await house.deliveries(later) == [("Scout", "pending")]
    house.advance(2)
    await house.until_idle()
    assert await house.deliveries(later) == [("Scout", "done")]
    assert inbox(first_requests(house, "Scout")[-1]) == ['[Dev Channel] Husam (human): "four"']


async def test_j7_an_error_that_a_retry_cannot_fix_fails_at_once(house: House) -> None:
    husam, scout = await house.person("Husam"), await conscious(house)
    family = await house.space("Family", husam, scout)
    house.model.script = lambda asked: Reply(status=401, text="bad key")
    message = await husam.say(family, "Hi")
    await house.until_idle()
    assert await house.deliveries(message) == [("Scout", "failed")]
    assert [who for who, _ in await house.texts(family)] == ["Husam", "Majlis"]
    assert await consciousness(house, scout) == []


async def test_k6_skip_is_refused_after_an_action_in_an_earlier_attempt(house: House) -> None:
    """The effect would be missing in the stored cycle."""
    house.try_models_once()
    husam, scout = await house.person("Husam"), await conscious(house)
    family = await house.space("Family", husam, scout)

    def script(asked: Asked) -> Reply:
        if done_before(asked):
            return call("skip") if step(asked) == 0 else silent("I had said hello.")
        parts = call("enter_space", spaceId=family), say("Hello"), BUSY
        return parts[step(asked)]

    house.model.script = script
    await husam.say(family, "Hi")
    await house.until_idle()
    house.advance(2)
    await house.until_idle()
    assert [cycle["summary"] for cycle in await consciousness(house, scout)] == ["I had said hello."]


async def test_k8_events_that_were_peeked_come_again_with_the_others(house: House) -> None:
    house.try_models_once()
    husam, scout = await house.person("Husam"), await conscious(house)
    family = await house.space("Family", husam, scout)

    async def script(asked: Asked) -> Reply:
        if done_before(asked):
            return silent("Both read.")
        if step(asked) == 0:
            await husam.say(family, "two")
            return call("peek_inbox")
        return BUSY

    house.model.script = script
    await husam.say(family, "one")
    await house.until_idle()
    house.advance(2)
    await house.until_idle()
    again = first_requests(house, "Scout")[-1]
    assert inbox(again) == ['[Family] Husam (human): "one"', '[Family] Husam (human): "two"']
    assert len(await consciousness(house, scout)) == 1
