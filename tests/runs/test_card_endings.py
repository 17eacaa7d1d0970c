"""J5: cards that end without an answer: timed out, withdrawn, agent or space deleted; and who may not answer."""

from __future__ import annotations

import asyncio

import pytest

from majlis import clock
from majlis.cards.close import time_out_cards
from majlis.settings import Settings
from tests.model_server import ModelServer, by_agent, call, say
from tests.runs.cards import APPROVE, QUESTION, asked, card_in, submit
from tests.runs.house import House, timeline
from tests.world import serve_world

pytestmark = pytest.mark.usefixtures("standing_clock")


async def test_j5_time_over_resumes_with_a_timeout_and_a_late_answer_is_a_conflict(house: House) -> None:
    tool = {**APPROVE, "execution": {"timeoutSeconds": 60}}
    _, space, card = await asked(house, say("I will not."), tool=tool)
    house.advance(59)
    await house.until_idle()
    assert (await house.run(card["runId"]))["status"] == "waiting_tool"
    async with house.owner.follow(space) as follower:
        house.advance(2)
        told = (await follower.until("space.message")).data["message"]
    assert (told["id"], told["tool"]["status"], told["tool"]["output"]) == (card["id"], "error", {"status": "timeout"})
    late = await submit(house.owner, card, True)
    assert (late.status_code, late.json()["error"]["code"]) == (409, "timed_out")
    await house.until_idle()
    assert [run["status"] for run in await house.runs()] == ["completed"]
    assert timeline(house.invocations("Bot")[-1])[-2:] == [
        f'You: called approve({{"question":"{QUESTION}"}}) → {{"status":"timeout","message":"No answer within 60 s."}}',
        "← RESUME: timeout, nobody answered approve within 60 s. Continue from here.",
    ]


async def test_j5_an_answer_and_the_deadline_in_the_same_instant_end_a_card_once(settings: Settings) -> None:
    """Without workers, so that the rows show which one won."""
    async with ModelServer() as model:
        async with serve_world(settings) as world:
            house = House(world, model)
            bot = await house.agent("Bot", tools=[APPROVE])
            spaces = [await house.space(f"Space {n}", bot) for n in range(5)]
            model.script = lambda asked: call("approve", question=QUESTION)
            for space in spaces:
                await house.owner.say(space, "go")
            await house.until_waiting(len(spaces))
        async with serve_world(settings.model_copy(update={"workers": 0})) as world:
            house = House(world, model)
            clock.advance(601_000)
            found = [await card_in(house, space) for space in spaces]
            answers, timed_out = await asyncio.gather(
                asyncio.gather(*(submit(house.owner, card, True) for card in found)),
                world.gateway.db.write(time_out_cards),
            )
            won = [answer.status_code == 200 for answer in answers]
            assert all(answer.status_code in (200, 409) for answer in answers)
            # The number it found due. It closed those that were not answered.
            assert timed_out <= len(spaces)
            for card, answered in zip(found, won, strict=True):
                now = await house.owner.ok("GET", f"/api/messages/{card['id']}")
                assert now["tool"]["output"] == ({"approved": True} if answered else {"status": "timeout"})
                assert (await house.run(card["runId"]))["status"] == "queued"


async def test_j5_a_cancel_withdraws_the_card(house: House) -> None:
    _, space, card = await asked(house)
    async with house.owner.follow(space) as follower:
        await house.owner.ok("POST", f"/api/runs/{card['runId']}/cancel")
        told = (await follower.until("space.message")).data["message"]
    assert (told["id"], told["tool"]["status"], told["tool"]["output"]) == (
        card["id"],
        "error",
        {"status": "withdrawn"},
    )
    late = await submit(house.owner, card, True)
    assert (late.status_code, late.json()["error"]["code"]) == (409, "withdrawn")
    assert (await house.owner.ok("GET", "/api/tool-calls")) == []
    assert (await house.run(card["runId"]))["status"] == "canceled"
    assert len(house.model.asked) == 1


async def test_j5_a7_only_members_of_the_space_answer_and_no_viewers(house: House) -> None:
    bot, space, card = await asked(house)
    sara, stranger, viewer = [await house.person(name) for name in ("Sara", "Stranger", "Viewer")]
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": sara.id})
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": viewer.id, "role": "viewer"})
    await house.remove(space, sara)
    answers = {person.name: await submit(person, card, True) for person in (sara, stranger, viewer, bot)}
    assert {name: answer.status_code for name, answer in answers.items()} == {
        "Sara": 404, "Stranger": 404, "Viewer": 403, "Bot": 403,
    }  # fmt: skip
    assert (await sara.ok("GET", "/api/tool-calls")) == []
    assert (await sara.get("/api/tool-calls", spaceId=space)).status_code == 404
    unknown = {"runId": card["runId"], "tool": {"callId": "call_nobody"}}
    assert (await submit(house.owner, unknown, True)).status_code == 404
    assert (await house.run(card["runId"]))["status"] == "waiting_tool"


async def test_j5_a7_an_agent_that_is_removed_goes_on_without_an_answer(house: House) -> None:
    bot, space, card = await asked(house)
    await house.remove(space, bot)
    await house.until_idle()
    [run] = await house.runs(bot)
    assert (run["status"], run["id"]) == ("completed", card["runId"])
    assert (await card_in(house, space))["tool"]["output"] == {"status": "withdrawn"}
    assert (await submit(house.owner, card, True)).status_code == 409
    assert "ACTIVE SPACE: none" in house.invocations("Bot")[-1].text


async def test_j5_a_deleted_agent_or_space_leaves_no_card_open(house: House) -> None:
    bot, space, card = await asked(house)
    await house.owner.ok("DELETE", f"/api/agents/{bot.id}")
    await house.until_idle()
    assert (await card_in(house, space))["tool"]["output"] == {"status": "withdrawn"}
    assert (await house.run(card["runId"]))["status"] == "canceled"
    other = await house.agent("Other", tools=[APPROVE])
    doomed = await house.space("Doomed", other)
    house.model.script = by_agent({"Other": [call("approve", question="?")]})
    await house.owner.say(doomed, "go")
    await house.until_waiting()
    await house.owner.ok("DELETE", f"/api/spaces/{doomed}")
    await house.until_idle()
    assert (await house.owner.ok("GET", "/api/tool-calls")) == []
    assert len(house.invocations("Other")) == 2
