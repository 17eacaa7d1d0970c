"""D5: agents see asks. An ask wakes only the agents that it names, and they answer with a reply."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from majlis.settings import Settings
from tests.api.test_bad_input import assert_error
from tests.asks.asking import DECISION, asked, give, read
from tests.model_server import Asked, Reply, Script, by_agent, call, silent
from tests.runs.house import House, open_house, timeline


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with open_house(settings) as opened:
        yield opened


def chooses(option: str) -> Script:
    """Replies to the message that triggered it."""

    def reply(asked: Asked) -> Reply:
        message_id = asked.text.split("messageId: ")[1].split("\n")[0]
        return call("send_message", text=option, messageId=message_id) if asked.step == 0 else silent()

    return reply


async def test_d5_an_ask_wakes_only_the_agents_that_it_names(house: House) -> None:
    bot, other = await house.agent("Bot"), await house.agent("Other")
    ci = await house.world.person("CI", "service")
    space = await house.space("Releases", bot, other, ci)
    open_ask = await asked(ci, space)
    await house.until_idle()
    assert house.model.asked == []
    house.model.script = by_agent({"Bot": chooses("Yes.")})
    named = await asked(ci, space, **{"from": ["Bot"]})
    await house.until_idle()
    found = await read(ci, named)
    assert (found["status"], found["answers"][0]["entityId"], found["answers"][0]["result"]) == (
        "answered",
        bot.id,
        {"choice": "yes"},
    )
    [shown] = house.invocations("Bot")
    lines = timeline(shown)
    assert lines[0].startswith('CI: asked "Ship it?" (options: ["yes","no"]) → 0 of 1 answered (reply to it to answer)')
    assert "← TRIGGER" in lines[1]
    assert "Reply with one of: yes, no" in shown.text
    assert house.asked("Other") == [] or house.invocations("Other")[0].text.count("TRIGGER")
    assert (await read(ci, open_ask))["answers"] == []


async def test_d5_agents_do_not_approve_and_do_not_answer_themselves(house: House) -> None:
    bot = await house.agent("Bot")
    ci = await house.world.person("CI", "service")
    space = await house.space("Releases", bot, ci)
    body = {"spaceId": space, "kind": "approval", "question": "Ship it?"}
    assert_error(await ci.post("/api/asks", {**body, "from": ["Bot"]}), 422, "invalid_wait")
    approval = await ci.ok("POST", "/api/asks", body)
    assert_error(await give(bot, approval, True), 403, "people_only")
    own = await asked(bot, space)
    assert_error(await give(bot, own, "yes"), 403, "own_question")
    # Only agents that the ask wakes can answer it.
    await house.remove(space, ci)
    await house.leave_to(space, bot)
    assert_error(await bot.post("/api/asks", {"spaceId": space, **DECISION}), 422, "invalid_wait")
