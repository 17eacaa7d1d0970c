"""Agents see the pins of the active space, and pin messages themselves."""

from __future__ import annotations

import pytest

from tests.model_server import call, sequence, silent
from tests.runs.house import House


async def test_an_agent_pins_and_sees_what_is_pinned(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Desk", scout)
    message = await house.owner.say(space, 'The "deadline" is\nFriday', mentions=[])
    await house.until_idle()
    pin = call("pin_message", messageId=f"msg:{message['id']}")
    house.model.script = sequence(pin, silent())
    await house.owner.say(space, "Pin it")
    await house.until_idle()
    assert house.asked("Scout")[-1].results == [{"success": True, "messageId": message["id"]}]
    [pinned] = (await house.owner.ok("GET", f"/api/spaces/{space}/pins"))["pins"]
    assert (pinned["id"], pinned["pinnedBy"]) == (message["id"], scout.id)
    house.model.script = sequence(call("unpin_message", messageId=message["id"]), silent())
    await house.owner.say(space, "And unpin it")
    await house.until_idle()
    shown = house.invocations("Scout")[-1].text
    line = f'PINNED ("Desk"):\n  - [msg:{message["id"]}] '
    assert line in shown
    assert shown.index("SPACE HISTORY") < shown.index("PINNED (")
    assert '"The \\"deadline\\" is\\nFriday"\n' in shown[shown.index(line) :]
    await house.owner.say(space, "Done?")
    await house.until_idle()
    assert "PINNED (" not in house.invocations("Scout")[-1].text


@pytest.mark.parametrize("mind", ["roles", "consciousness"])
async def test_every_mind_shows_the_pins_of_its_space(house: House, mind: str) -> None:
    scout = await house.agent("Scout", mind=mind)
    space = await house.space("Desk", scout)
    message = await house.owner.say(space, "The deadline is Friday", mentions=[])
    await house.owner.ok("PUT", f"/api/messages/{message['id']}/pin")
    await house.until_idle()
    house.model.script = sequence(call("enter_space", spaceId=space), silent("noted"))
    await house.owner.say(space, "hello")
    await house.until_idle()
    await house.owner.say(space, "again")
    await house.until_idle()
    assert 'PINNED ("Desk"):\n' in house.asked("Scout")[-1].text
