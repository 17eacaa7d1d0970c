"""D1: people answer cards and programs ask people over `/mcp`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from majlis.settings import Settings
from tests.asks.asking import give
from tests.conditions import until
from tests.mcp.conftest import Connect
from tests.model_server import call, say, sequence
from tests.runs import deploy_tools
from tests.runs.cards import asked, card_in
from tests.runs.deploy_tools import HERE, deployed, tool
from tests.runs.house import House, open_house
from tests.world import World


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    deployed.clear()
    deploy_tools.release.clear()
    async with open_house(settings.model_copy(update={"tool_modules": [HERE]})) as opened:
        yield opened


async def test_d1_a_member_answers_a_card_once(house: House, connect: Connect) -> None:
    _, space, card = await asked(house, say("Deployed."))
    async with connect(house.owner) as session:
        code, text = await session.refusal("answer_card", messageId=card["id"], result="maybe")
        assert (code, "not valid" in text) == ("invalid_result", True)
        answered = await session.ok("answer_card", messageId=card["id"], result=True)
        assert answered["tool"]["output"] == {"approved": True}
        given = {"runId": card["runId"], "toolCallId": card["tool"]["callId"], "result": False}
        assert (await session.refusal("answer_card", **given))[0] == "answered_already"
    await house.until_idle()
    assert (await house.texts(space))[-1] == ("Bot", "Deployed.")


async def test_d1_a_permission_needs_the_scope_approve(house: House, connect: Connect) -> None:
    sara, ben = await house.person("Sara"), await house.person("Ben")
    rule = {"tools": "deploy*", "do": "ask", "approvers": ["members"]}
    bot = await house.agent("Bot", tools=[tool("deploy")], policy=[rule])
    space = await house.space("Releases", bot, sara, ben)
    house.model.script = sequence(call("deploy", version="1.4"), say("Done."))
    await sara.say(space, "Deploy 1.4")
    await house.until_waiting()
    card = await card_in(house, space)
    writer = await house.world.with_token(ben.id, "Ben", scopes=["read", "write"])
    async with connect(writer) as session:
        assert (await session.refusal("answer_card", messageId=card["id"], result=True))[0] == "missing_scope"
    async with connect(sara) as session:
        assert (await session.refusal("answer_card", messageId=card["id"], result=True))[0] == "own_request"
    deploy_tools.release.set()
    async with connect(ben) as session:
        await session.ok("answer_card", messageId=card["id"], result=True)
    await house.until_idle()
    assert len(deployed) == 1


async def test_d1_a_message_without_a_card_is_refused(world: World, connect: Connect) -> None:
    space = await world.owner.create_space("Kitchen")
    message = await world.owner.say(space, "Hello")
    async with connect(world.owner) as session:
        assert (await session.refusal("answer_card", messageId=message["id"], result=True))[0] == "not_a_card"


async def test_d5_a_program_asks_people_and_waits_for_the_answer(world: World, connect: Connect) -> None:
    sara, ben = await world.person("Sara"), await world.person("Ben")
    space = await sara.create_space("Kitchen", ben)
    question = {"spaceId": space, "kind": "choice", "question": "Soup?", "options": ["yes", "no"], "clientId": "q1"}
    async with connect(ben) as session:
        made = await session.ok("ask_people", **question, waitSeconds=0)
        again = await session.ok("ask_people", **question, waitSeconds=0)
        assert (made["status"], made["id"]) == ("open", again["id"])
        task = asyncio.create_task(session.ok("ask_people", askId=made["id"], waitSeconds=60))
        await until(lambda: world.gateway.ask_polls._woken)
        assert (await give(sara, made, "yes")).is_success
        found = await task
        assert found["status"] == "answered"
        assert [each["result"] for each in found["answers"]] == [{"choice": "yes"}]
        second = await session.ok("ask_people", spaceId=space, question="How much?", waitSeconds=0)
    async with connect(sara) as session:
        answered = await session.ok("answer_card", messageId=second["messageId"], result="Two litres")
        assert answered["tool"]["ask"]["answers"][0]["result"] == {"text": "Two litres"}
        assert (await session.refusal("answer_card", askId=second["id"], result="x"))[0] == "answered_already"


async def test_d5_an_ask_that_lacks_something_asks_nothing(world: World, connect: Connect) -> None:
    space = await world.owner.create_space("Kitchen")
    writer = await world.with_token(world.owner.id, "Owner", scopes=["write"])
    async with connect(world.owner) as session:
        assert (await session.refusal("ask_people", question="Soup?"))[0] == "no_question"
        assert (await session.refusal("ask_people", spaceId=space))[0] == "no_question"
        assert (await session.refusal("ask_people", askId="ask_0000000000000000"))[0] == "unknown_ask"
    async with connect(writer) as session:
        assert (await session.refusal("ask_people", spaceId=space, question="Soup?"))[0] == "missing_scope"
    assert (await world.owner.history(space))["messages"] == []
