"""E11: a space can end chains of agents earlier than the gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from majlis.settings import Settings
from tests.api.test_bad_input import assert_error
from tests.model_server import say, silent
from tests.runs.house import House, open_house


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with open_house(settings) as opened:
        yield opened


async def test_e11_a_chain_ends_at_the_limit_of_the_space_and_the_agents_know(house: House) -> None:
    space = await house.space(
        "Project Alpha", await house.agent("Ada", guard=False), await house.agent("Bo", guard=False)
    )
    changed = await house.owner.ok("PATCH", f"/api/spaces/{space}", {"maxChainDepth": 2})
    assert changed["maxChainDepth"] == 2
    house.model.script = lambda asked: say("and you?") if asked.step == 0 else silent()
    await house.owner.say(space, "talk")
    await house.until_idle()
    depths = [message["chainDepth"] for message in (await house.owner.history(space))["messages"]]
    assert max(depths) == 2
    second = next(asked for asked in house.model.asked if "chainDepth: 1" in asked.text)
    assert "Chain depth 1 of 2: your message wakes no agent. Finish here." in second.text
    ends = [asked.results[-1] for asked in house.model.asked if asked.results and asked.results[-1]["hopsLeft"] == 0]
    assert all("woke no agent" in end["note"] for end in ends)
    assert ends
    [notice] = {text for name, text in await house.texts(space) if name == "Majlis"}
    assert "2 times in a row" in notice


async def test_e11_the_limit_of_a_space_is_at_most_the_gateways_and_null_removes_it(house: House) -> None:
    space = await house.space("Project Alpha")
    path = f"/api/spaces/{space}"
    assert_error(await house.owner.patch(path, {"maxChainDepth": 6}), 422, "too_deep")
    assert (await house.owner.ok("PATCH", path, {"maxChainDepth": 5}))["maxChainDepth"] == 5
    assert (await house.owner.ok("PATCH", path, {"maxChainDepth": None}))["maxChainDepth"] is None
