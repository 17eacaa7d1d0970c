"""F6: other agents see in words why a message was sent, if they may read the message that caused it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model_server import by_agent, call, sequence, silent
from tests.model_server import say as reply
from tests.runs.house import House
from tests.runs.test_acts_for import agent
from tests.world import Person

_WORDS = '(sent because Husam asked "Ask Sarah for the numbers" in "Desk")'


async def sent_elsewhere(house: House, both: bool, **config: Any) -> tuple[Person, str, Person]:
    """Scout, asked in "Desk", sends into "Lab", where Writer is. `both`: Writer is in "Desk", too."""
    scout, writer = await agent(house, "Scout"), await agent(house, "Writer", **config)
    husam = await house.person("Husam")
    desk = await house.space("Desk", husam, scout, *([writer] if both else []), triggers="mentioned")
    lab = await house.space("Lab", husam, scout, writer, triggers="mentioned")
    walk = sequence(call("enter_space", spaceId=lab), reply("Sarah, the numbers please"), silent())
    house.model.script = by_agent({"Scout": walk})
    await husam.say(desk, "Ask Sarah for the numbers", mentions=[scout.id])
    await house.until_idle()
    return husam, lab, writer


@pytest.mark.parametrize("mind", ["timeline", "roles"])
@pytest.mark.parametrize("both", [True, False])
async def test_f6_another_agent_sees_the_origin_if_it_may_read_it(house: House, mind: str, both: bool) -> None:
    husam, lab, writer = await sent_elsewhere(house, both, mind=mind)
    await husam.say(lab, "What is this about?", mentions=[writer.id])
    await house.until_idle()
    shown = house.invocations("Writer")[-1].text
    assert "Sarah, the numbers please" in shown
    assert (_WORDS.strip("()") in shown) is both
    assert ("Ask Sarah" in shown) is both


@pytest.mark.parametrize("both", [True, False])
async def test_f6_pages_of_messages_have_the_origin_if_the_run_may_read_it(house: House, both: bool) -> None:
    husam, lab, writer = await sent_elsewhere(house, both)
    house.model.script = by_agent({"Writer": [call("read_messages"), call("enter_space", spaceId=lab), silent()]})
    await husam.say(lab, "What is this about?", mentions=[writer.id])
    await house.until_idle()
    read, entered = house.asked("Writer")[-1].results
    for page in (read["messages"], entered["history"]):
        [sent] = [each for each in page if each["sender"]["name"] == "Scout"]
        origin = sent.get("origin")
        if not both:
            assert origin is None
            continue
        assert origin["sourceSender"] == "Husam"
        assert (origin["sourceSpaceName"], origin["sourceText"]) == ("Desk", "Ask Sarah for the numbers")


async def test_f6_g3_the_origin_is_hidden_if_the_runs_person_may_not_read_it(house: House) -> None:
    """Writer may read "Desk", but the one who asks it may not."""
    _, lab, writer = await sent_elsewhere(house, both=True)
    sara = await house.person("Sara")
    await house.owner.ok("POST", f"/api/spaces/{lab}/members", {"entityId": sara.id})
    house.model.script = by_agent({"Writer": [call("read_messages"), silent()]})
    await sara.say(lab, "What is this about?", mentions=[writer.id])
    await house.until_idle()
    assert not any("Ask Sarah" in asked.text for asked in house.asked("Writer"))
