"""E10: text that an agent writes without `send_message` is not lost silently."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.test_bad_input import assert_error
from tests.model_server import Asked, Reply, call, say, sequence, silent
from tests.runs.house import House

NOTE = "The model wrote text but did not send a message."


async def last_run(house: House) -> Any:
    return (await house.runs())[-1]


@pytest.mark.parametrize("mind", ["timeline", "roles"])
async def test_e10_an_agent_that_only_wrote_text_is_told_so_once_and_can_still_send(house: House, mind: str) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout", mind=mind))
    house.model.script = sequence(silent("Paris."), say("Paris."), silent())
    await house.owner.say(space, "capital of France?")
    await house.until_idle()
    assert await house.texts(space) == [("Owner", "capital of France?"), ("Scout", "Paris.")]
    first, told, _ = house.model.asked
    assert told.messages[: len(first.messages)] == first.messages
    assert [each["role"] for each in told.messages[len(first.messages) :]] == ["assistant", "user"]
    assert "you have not sent a message" in told.text
    assert (await last_run(house))["notes"] == []


async def test_e10_the_asker_alone_can_read_and_post_what_was_not_sent(house: House) -> None:
    sara, ada = await house.person("Sara"), await house.person("Ada")
    space = await house.space("Project Alpha", await house.agent("Scout"), sara, ada)
    house.model.script = lambda asked: silent("It is Paris.")
    async with sara.follow() as events:
        await events.until("connected")
        question = await sara.say(space, "capital of France?")
        told = (await events.until("run.unsent")).data
    await house.until_idle()
    assert len(house.model.asked) == 2
    run = await last_run(house)
    assert (told["runId"], told["messageId"], told["agentName"]) == (run["id"], question["id"], "Scout")
    assert "Paris" not in str(told)
    assert run["notes"] == [NOTE]
    path = f"/api/runs/{run['id']}"
    assert (await sara.ok("GET", path))["unsent"] == {"text": "It is Paris.", "messageId": None}
    for other in (ada, house.owner):
        assert "unsent" not in await other.ok("GET", path)
        assert_error(await other.post(f"{path}/unsent/post"), 403, "not_the_asker")
    house.model.script = lambda asked: silent()
    posted = await sara.ok("POST", f"{path}/unsent/post")
    again = await sara.ok("POST", f"{path}/unsent/post")
    assert posted["id"] == again["id"]
    assert (posted["sender"]["name"], posted["text"], posted["replyTo"]) == ("Scout", "It is Paris.", question["id"])
    assert (await sara.ok("GET", path))["unsent"]["messageId"] == posted["id"]
    assert len(await house.texts(space)) == 2


async def test_e10_text_of_a_run_that_looked_at_another_space_is_offered_to_no_one(house: House) -> None:
    scout = await house.agent("Scout")
    other = await house.space("Elsewhere", scout)
    space = await house.space("Project Alpha", scout)
    house.model.script = lambda asked: (
        call("read_messages", spaceId=other, offset=1) if not asked.results else silent("I know what they said.")
    )
    await house.owner.say(space, "what is new?")
    await house.until_idle()
    run = await last_run(house)
    assert run["notes"] == [NOTE]
    assert "unsent" not in await house.owner.ok("GET", f"/api/runs/{run['id']}")
    assert_error(await house.owner.post(f"/api/runs/{run['id']}/unsent/post"), 409, "nothing_unsent")


async def test_e10_an_agent_among_others_that_was_not_mentioned_may_think_in_silence(house: House) -> None:
    ada, bo = await house.agent("Ada"), await house.agent("Bo")
    space = await house.space("Project Alpha", ada, bo)
    house.model.script = lambda asked: silent("Not for me.")
    await house.owner.say(space, "hello")
    await house.until_idle()
    assert len(house.model.asked) == 2
    await house.owner.say(space, "@Ada hello")
    await house.until_idle()
    assert [asked.agent for asked in house.model.asked[2:]].count("Ada") == 2


@pytest.mark.parametrize("mind", ["timeline", "roles", "consciousness"])
async def test_e10_an_agent_that_speaks_by_text_posts_its_final_text(house: House, mind: str) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout", mind=mind, speak="text"))
    house.model.script = sequence(
        Reply(text="Let me note that.", calls=[("set_memories", {"memories": [{"key": "a", "value": "b"}]})]),
        silent("Noted."),
    )
    async with house.owner.follow(space) as events:
        await events.until("connected")
        await house.owner.say(space, "note this")
        withdrawn = (await events.until("tool-call.error")).data
        message = (await events.until_message("Noted.")).data
    await house.until_idle()
    assert message["message"]["text"] == "Noted."
    assert message["streamId"] != withdrawn["streamId"]
    assert await house.texts(space) == [("Owner", "note this"), ("Scout", "Noted.")]
    first = house.model.asked[0]
    assert "send_message" not in first.tool_names
    assert "never shown to anyone" not in first.text
    [run] = await house.runs()
    assert (run["status"], run["notes"]) == ("completed", [])


async def test_e10_the_text_is_streamed_as_it_is_written_and_empty_text_is_silence(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout", speak="text"))
    house.model.script = sequence(silent("A long answer, in several pieces."), silent("  "))
    async with house.owner.follow(space) as events:
        await events.until("connected")
        await house.owner.say(space, "tell me")
        delta = (await events.until("tool-input-delta")).data
        done = (await events.until("tool-call.complete")).data
    assert delta["textDelta"].startswith("A long")
    assert delta["streamId"] == done["streamId"]
    await house.until_idle()
    await house.owner.say(space, "thanks")
    await house.until_idle()
    assert [name for name, _ in await house.texts(space)] == ["Owner", "Scout", "Owner"]


@pytest.mark.parametrize("mind", ["timeline", "roles", "consciousness"])
async def test_e10_a_model_that_cannot_call_tools_speaks_by_text_without_a_setting(house: House, mind: str) -> None:
    """The provider's refusal is remembered: the next run asks without tools at once."""
    space = await house.space("Project Alpha", await house.agent("Scout", mind=mind))

    def script(asked: Asked) -> Reply:
        if asked.tool_names:
            return Reply(status=400, text="registry.ollama.ai/library/gemma:2b does not support tools")
        return silent(f"Answer {asked.n}.")

    house.model.script = script
    await house.owner.say(space, "hello")
    await house.until_idle()
    await house.owner.say(space, "and now?")
    await house.until_idle()
    assert await house.texts(space) == [
        ("Owner", "hello"), ("Scout", "Answer 1."), ("Owner", "and now?"), ("Scout", "Answer 2."),
    ]  # fmt: skip
    assert [bool(asked.tool_names) for asked in house.model.asked] == [True, False, False]
    run = await last_run(house)
    assert run["notes"] == ["The model cannot call tools, so its text is posted as its message."]
