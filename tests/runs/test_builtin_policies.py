"""G5: a rule covers a built-in tool by its exact name. A message under `ask` is posted once it is approved, and is not
streamed."""

from __future__ import annotations

from typing import Any

import pytest

from majlis.agents.config.policy import verdict
from majlis.settings import Settings
from tests.model_server import Asked, Reply, call, say, sequence, silent
from tests.runs.cards import card_in, submit
from tests.runs.house import House, open_house, timeline

ASK = [{"tools": "send_message", "do": "ask"}]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings


def test_g5_no_pattern_covers_a_built_in_tool() -> None:
    rules = [{"tools": "*", "do": "deny"}, {"tools": "Send_Message", "do": "ask"}]
    assert [verdict(rules, name) for name in ("send_message", "set_plans", "deploy")] == ["ask", "allow", "deny"]


@pytest.mark.parametrize("where", ["agent", "space"])
async def test_g5_a_message_under_ask_is_posted_once_approved_and_not_streamed(house: House, where: str) -> None:
    bot = await house.agent("Bot", policy=ASK if where == "agent" else [])
    space = await house.space("Releases", bot)
    if where == "space":
        await house.owner.ok("PATCH", f"/api/spaces/{space}", {"toolPolicy": ASK})
    house.model.script = sequence(say("1.4 is live."), silent())
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Announce it")
        await house.until_waiting()
        card = await card_in(house, space)
        assert (card["tool"]["purpose"], card["tool"]["input"]) == ("permission", {"text": "1.4 is live."})
        assert [text for _, text in await house.texts(space) if text] == ["Announce it"]
        assert (await submit(house.owner, card, {"approved": True})).status_code == 200
        await follower.until_message("1.4 is live.")
        assert not [event for event in follower.seen if event.type == "tool-call.start"]
    await house.until_idle()
    assert [text for name, text in await house.texts(space) if name == "Bot" and text] == ["1.4 is live."]
    [run] = await house.runs(bot)
    assert run["status"] == "completed"
    steps = await house.owner.ok("GET", f"/api/runs/{run['id']}/steps")
    [step] = [step for step in steps if step.get("name") == "send_message"]
    assert (step["state"], step["output"]["status"]) == ("done", "delivered")
    assert timeline(house.model.asked[-1])[-1].startswith("← RESUME: Owner approved send_message, and it was called")


async def test_g5_a_message_that_is_not_approved_is_not_posted(house: House) -> None:
    bot = await house.agent("Bot", policy=ASK)
    space = await house.space("Releases", bot)
    house.model.script = sequence(say("1.4 is live."), silent())
    await house.owner.say(space, "Announce it")
    await house.until_waiting()
    assert (await submit(house.owner, await card_in(house, space), {"approved": False})).status_code == 200
    await house.until_idle()
    assert [text for name, text in await house.texts(space) if name == "Bot" and text] == []
    assert "did not approve send_message" in timeline(house.model.asked[-1])[-1]


async def test_g5_deny_in_a_config_and_in_a_space(house: House) -> None:
    """A config's tool is not offered, a space's call is an error that says so."""
    bot = await house.agent("Bot", policy=[{"tools": "set_plans", "do": "deny"}])
    space = await house.space("Releases", bot)
    await house.owner.ok("PATCH", f"/api/spaces/{space}", {"toolPolicy": [{"tools": "send_message", "do": "deny"}]})
    memory = {"memories": [{"key": "k", "value": "v"}]}
    house.model.script = sequence(say("No."), call("set_memories", **memory), silent())
    await house.owner.say(space, "Go")
    await house.until_idle()
    first, second, third = house.model.asked[:3]
    assert "set_plans" not in first.tool_names
    assert "not allowed in the active space" in second.results[-1]["error"]
    assert third.results[-1]["success"]
    assert [text for _, text in await house.texts(space)] == ["Go"]


async def test_g5_an_approved_question_pauses_the_run_for_its_answer(house: House) -> None:
    bot = await house.agent("Bot", policy=ASK)
    space = await house.space("Releases", bot)

    def script(asked: Asked) -> Reply:
        if "RESUME: Owner replied" in asked.text:
            return silent()
        return say("Ship it?", wait=True)

    house.model.script = script
    await house.owner.say(space, "Go")
    await house.until_waiting()
    assert (await submit(house.owner, await card_in(house, space), {"approved": True})).status_code == 200
    await _until_status(house, "waiting_reply")
    asked = len(house.model.asked)
    assert asked == 1
    await house.owner.say(space, "Yes")
    await house.until_idle()
    [run] = [run for run in await house.runs(bot) if run["trigger"]["text"] == "Go"]
    assert (run["status"], len(house.model.asked)) == ("completed", 2)


async def _until_status(house: House, status: str) -> None:
    from tests.conditions import until

    async def is_so() -> bool:
        return status in [run["status"] for run in await house.runs()]

    await until(is_so)


async def test_g5_a_cycle_goes_on_and_sends_when_the_approval_arrives(house: House) -> None:
    mind = await house.agent("Mind", mind="consciousness", policy=ASK)
    space = await house.space("Releases", mind)

    def script(asked: Asked) -> Reply:
        done: list[Any] = [each.get("status") for each in asked.results]
        if "pending" not in done:
            return (
                say("1.4 is live.")
                if "entered" in str(asked.results) or asked.step
                else call("enter_space", spaceId=space)
            )
        if '"approved": true' in asked.text or '"approved":true' in asked.text:
            return silent() if "delivered" in done else say("1.4 is live.")
        return silent()

    house.model.script = script
    await house.owner.say(space, "Announce it")
    await house.until_idle()
    card = await card_in(house, space)
    assert (await submit(house.owner, card, {"approved": True})).status_code == 200
    await house.until_idle()
    assert [text for name, text in await house.texts(space) if name == "Mind" and text] == ["1.4 is live."]


async def test_g5_an_agent_that_speaks_by_text_cannot_ask(house: House) -> None:
    bot = await house.agent("Bot", speak="text", policy=ASK)
    space = await house.space("Releases", bot)
    house.model.script = sequence(silent("1.4 is live."))
    await house.owner.say(space, "Announce it")
    await house.until_idle()
    assert [text for _, text in await house.texts(space)] == ["Announce it"]
    [run] = await house.runs(bot)
    assert any("approval" in note for note in run["notes"])


async def test_g5_an_approved_message_survives_a_restart(settings: Settings) -> None:
    async with open_house(settings) as house:
        bot = await house.agent("Bot", policy=ASK)
        space = await house.space("Releases", bot)
        house.model.script = sequence(say("1.4 is live."), silent())
        await house.owner.say(space, "Announce it")
        await house.until_waiting()
        worker = house.world.gateway.worker
        assert worker is not None
        await worker.stop()
        assert (await submit(house.owner, await card_in(house, space), {"approved": True})).status_code == 200
        worker._stopping = False
        worker.start()
        await house.until_idle()
        assert [text for name, text in await house.texts(space) if name == "Bot" and text] == ["1.4 is live."]
