"""F4: a run that was asked in one space and waits in another sees both when it resumes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model_server import Asked, call, sequence, silent
from tests.model_server import say as reply
from tests.runs.house import House, block, once
from tests.runs.test_acts_for import agent
from tests.world import Person


async def asked_and_waiting(house: House, **config: Any) -> tuple[Person, Person, str, str]:
    """Husam has asked Scout in "Desk" to ask Sarah, and Scout waits in "Lab"."""
    scout = await agent(house, "Scout", **config)
    husam, sarah = await house.person("Husam"), await house.person("Sarah")
    desk, lab = await house.space("Desk", husam, scout), await house.space("Lab", husam, sarah, scout)
    await husam.say(desk, "We need it for Friday", mentions=[])
    await house.until_idle()
    walk = call("enter_space", spaceId=lab), reply("Net or gross?", wait=True), silent()
    house.model.script = sequence(*walk)
    await husam.say(desk, "Ask Sarah for the Q4 numbers")
    await house.until_waiting()
    house.model.script = once()
    return husam, sarah, desk, lab


def there(shown: Asked) -> list[str]:
    return block(shown, r"ASKED IN \(.*\)")


async def answered(house: House, sarah: Person, lab: str) -> Asked:
    await sarah.say(lab, "Net, please")
    await house.until_idle()
    return house.invocations("Scout")[-1]


@pytest.mark.parametrize("layout", ["stable", "classic"])
async def test_f4_a_resumed_run_sees_what_it_was_asked_and_where(house: House, layout: str) -> None:
    """It used to see only the space where it waited, and had forgotten the request."""
    husam, sarah, desk, lab = await asked_and_waiting(house, layout=layout)
    later = await husam.say(desk, "Before noon, please", mentions=[])
    await house.until_idle()
    shown = await answered(house, sarah, lab)
    assert f'ASKED IN ("Desk", id: {desk}):\n' in shown.text
    texts = [line.partition(": ")[2] for line in there(shown)]
    assert texts == [
        '"We need it for Friday"  [SEEN]',
        '"Ask Sarah for the Q4 numbers"  [NEW] ← TRIGGER',
        '"Before noon, please"  [SEEN]',
    ]
    history = block(shown, r"SPACE HISTORY .*")
    assert any('"Net, please"  [NEW] ← RESUME: Sarah replied.' in line for line in history)
    assert not any("Q4 numbers" in line for line in history)
    assert shown.text.index("SPACE HISTORY") < shown.text.index("ASKED IN")
    assert later


async def test_f4_the_place_that_was_left_is_shown_only_while_the_agent_may_read_it(house: House) -> None:
    _, sarah, desk, lab = await asked_and_waiting(house)
    scout = (await house.runs())[-1]["agentId"]
    await house.owner.ok("DELETE", f"/api/spaces/{desk}/members/{scout}")
    shown = await answered(house, sarah, lab)
    assert "ASKED IN" not in shown.text
    assert "We need it for Friday" not in shown.text


async def test_f4_g3_and_only_while_its_person_may(house: House) -> None:
    husam, sarah, desk, lab = await asked_and_waiting(house)
    await house.remove(desk, husam)
    shown = await answered(house, sarah, lab)
    assert "ASKED IN" not in shown.text
    assert "We need it for Friday" not in shown.text


async def test_f4_a_deleted_request_is_not_shown_there(house: House) -> None:
    husam, sarah, desk, lab = await asked_and_waiting(house)
    first = (await husam.history(desk))["messages"][0]
    await husam.ok("DELETE", f"/api/messages/{first['id']}")
    shown = await answered(house, sarah, lab)
    assert "(deleted by Husam)" in "\n".join(there(shown))
    assert "We need it for Friday" not in shown.text


async def test_f4_a_run_that_never_left_sees_one_place(house: House) -> None:
    scout = await house.agent("Scout")
    desk = await house.space("Desk", scout)
    house.model.script = sequence(reply("Which?", wait=True), silent())
    await house.owner.say(desk, "Do it")
    await house.until_waiting()
    await house.owner.say(desk, "The first")
    await house.until_idle()
    assert not any("ASKED IN" in asked.text for asked in house.model.asked)


async def test_f4_roles_shows_the_space_it_waits_in_beside_the_conversation(house: House) -> None:
    """An agent that waits is a timeline's; its mind may be another when it resumes."""
    _, sarah, desk, lab = await asked_and_waiting(house)
    scout = (await house.runs())[-1]["agentId"]
    await house.owner.ok("PATCH", f"/api/agents/{scout}", {"config": {"mind": "roles"}})
    shown = await answered(house, sarah, lab)
    last = shown.messages[-1]["content"]
    assert any("Ask Sarah for the Q4 numbers" in str(turn["content"]) for turn in shown.messages)
    assert f'Your active space is now "Lab" (id: {lab}).\n  The newest messages there:' in last
    assert last.rstrip().endswith('"Net, please"  [NEW] ← RESUME: Sarah replied. Continue from here.')
    assert last.count("Net or gross?") == 1
    assert desk
