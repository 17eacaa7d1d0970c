"""An agent's answer is generated again: the old one is deleted, and the agent gets the message once more."""

from __future__ import annotations

import asyncio

from tests.api.test_bad_input import assert_error
from tests.model_server import Asked, ModelServer, Reply, say, silent
from tests.world import World


async def test_the_asker_gets_another_answer_and_the_first_is_deleted(world: World) -> None:
    answers = iter(["Red.", "Blue."])

    def script(asked: Asked) -> Reply:
        return say(next(answers)) if asked.step == 0 else silent()

    async with ModelServer(script) as server:
        model = {"provider": "openai", "name": "scripted", "baseUrl": server.base_url}
        ada, sara, omar = await world.agent("Ada", model=model), await world.person("Sara"), await world.person("Omar")
        space = await world.owner.create_space("Colours", ada, sara, omar)
        async with sara.follow() as follower:
            question = await sara.say(space, "Which colour?")
            first = (await follower.until_message("Red.")).data["message"]
            await follower.until("run.completed")
            assert_error(await omar.post(f"/api/messages/{first['id']}/regenerate"), 403, "not_the_asker")
            assert_error(await sara.post(f"/api/messages/{question['id']}/regenerate"), 409, "not_an_answer")
            deleted = await sara.ok("POST", f"/api/messages/{first['id']}/regenerate")
            assert (deleted["text"], deleted["deletedBy"]["id"]) == ("", sara.id)
            second = (await follower.until_message("Blue.")).data["message"]
            await follower.until("run.completed")
            assert second["runId"] != first["runId"]
            assert_error(await sara.post(f"/api/messages/{first['id']}/regenerate"), 409, "message_deleted")
        texts = [each["text"] for each in (await sara.history(space))["messages"]]
        assert texts == ["Which colour?", "", "Blue."]


async def test_an_answer_is_not_generated_again_while_the_agent_works_on_it(world: World) -> None:
    gate = asyncio.Event()

    def script(asked: Asked) -> Reply:
        if asked.step == 0:
            return say("So far.")
        reply = silent()
        reply.gate = gate
        return reply

    async with ModelServer(script) as server:
        model = {"provider": "openai", "name": "scripted", "baseUrl": server.base_url}
        ada = await world.agent("Ada", model=model)
        space = await world.owner.create_space("Colours", ada)
        async with world.owner.follow() as follower:
            await world.owner.say(space, "Which colour?")
            first = (await follower.until_message("So far.")).data["message"]
            path = f"/api/messages/{first['id']}/regenerate"
            assert_error(await world.owner.post(path), 409, "still_working")
            gate.set()
            await follower.until("run.completed")


async def test_an_answer_stays_if_there_can_be_no_other(world: World) -> None:
    """The agent has left, or the question was deleted: the only answer would be lost, or one to nothing would come."""
    async with ModelServer(lambda asked: say("Red.") if asked.step == 0 else silent()) as server:
        model = {"provider": "openai", "name": "scripted", "baseUrl": server.base_url}
        ada, sara = await world.agent("Ada", model=model), await world.person("Sara")
        space = await world.owner.create_space("Colours", ada, sara)
        async with sara.follow() as follower:
            question = await sara.say(space, "Which colour?")
            answer = (await follower.until_message("Red.")).data["message"]
            await follower.until("run.completed")
        path = f"/api/messages/{answer['id']}/regenerate"
        await world.owner.ok("DELETE", f"/api/spaces/{space}/members/{ada.id}")
        assert_error(await sara.post(path), 409, "agent_left")
        await world.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": ada.id})
        await sara.ok("DELETE", f"/api/messages/{question['id']}")
        assert_error(await sara.post(path), 409, "question_deleted")
        texts = [each["text"] for each in (await sara.history(space))["messages"] if each["kind"] == "text"]
        assert texts == ["", "Red."]
