"""D6: an MCP server asks people during a call. The question is a card, and the answer goes back to the server."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp.types import ElicitRequestFormParams, ElicitRequestURLParams

from majlis.cards.close import withdraw_held_cards
from majlis.errors import Invalid
from majlis.settings import Settings
from majlis.tools.mcp.questions import read_question
from tests.conditions import until
from tests.model_server import ModelServer, Reply, Script, call, say, sequence, silent
from tests.runs.cards import asked as asked_by_tool
from tests.runs.cards import card_in, submit
from tests.runs.cycles import each_cycle
from tests.runs.house import House, open_house
from tests.tools.asking_mcp_server import PAGE, asking_server
from tests.world import Person, serve_world


@pytest.fixture
async def port() -> AsyncIterator[int]:
    async with asking_server() as opened:
        yield opened


@pytest.fixture
async def old_port() -> AsyncIterator[int]:
    async with asking_server(old=True) as opened:
        yield opened


def reaching(settings: Settings, port: int) -> Settings:
    return settings.model_copy(update={"tool_private_hosts": [f"127.0.0.1:{port}"]})


@pytest.fixture
async def house(settings: Settings, port: int) -> AsyncIterator[House]:
    async with open_house(reaching(settings, port)) as opened:
        yield opened


@pytest.fixture
async def old_house(settings: Settings, old_port: int) -> AsyncIterator[House]:
    async with open_house(reaching(settings, old_port)) as opened:
        yield opened


def trains(port: int, **more: Any) -> dict[str, Any]:
    return {"name": "trains", "url": f"http://127.0.0.1:{port}/mcp", **more}


async def asks(house: House, port: int, *replies: Reply | Script, **config: Any) -> tuple[Person, str]:
    bot = await house.agent("Bot", mcp=[trains(port)], **config)
    space = await house.space("Travel", bot)
    house.model.script = sequence(*(replies or (call("trains__book", train="T1"), say("Done."))))
    await house.owner.say(space, "Book a seat")
    return bot, space


async def open_card(house: House, space: str) -> Any:
    async def is_open() -> bool:
        return bool(await house.owner.ok("GET", "/api/tool-calls", spaceId=space))

    await until(is_open)
    return await card_in(house, space)


async def decline(person: Person, card: Any) -> Any:
    body = {"toolCallId": card["tool"]["callId"], "decline": True}
    return await person.post(f"/api/runs/{card['runId']}/tool-results", body)


async def result(house: House, run_id: str, name: str = "trains__book") -> Any:
    steps = await house.owner.ok("GET", f"/api/runs/{run_id}/steps")
    return next(step["output"] for step in reversed(steps) if step.get("name") == name)


async def test_d6_a_question_of_a_server_is_a_card_and_the_call_goes_on_after_a_restart(
    settings: Settings, port: int
) -> None:
    settings = reaching(settings, port)
    async with ModelServer() as model:
        async with serve_world(settings) as world:
            house = House(world, model)
            bot, space = await asks(house, port)
            await house.until_waiting()
            await house.until_idle()
            [run] = await house.runs(bot)
            card = await card_in(house, space)
            assert (run["status"], run["wait"]["messageId"]) == ("waiting_tool", card["id"])
            tool = card["tool"]
            assert (card["text"], tool["ui"], tool["purpose"]) == ("Where do you want to sit in T1?", "form", "answer")
            assert tool["input"] == {"server": "trains", "question": card["text"]}
            assert tool["mayDecline"] is True
            assert tool["resultSchema"]["properties"]["row"] == {
                "type": "integer", "title": "Row", "description": "Counted from the front.", "minimum": 1,
                "maximum": 30,
            }  # fmt: skip
            assert "elicitation" not in json.dumps(await house.owner.ok("GET", "/api/tool-calls"))
        async with serve_world(settings) as world:
            house = House(world, model)
            wrong = await submit(house.owner, card, {"row": 99})
            assert (wrong.status_code, wrong.json()["error"]["details"]["path"]) == (422, "result.row")
            assert (await submit(house.owner, card, {"row": 7, "side": "right"})).status_code == 200
            await house.until_idle()
            [run] = await house.runs()
            assert run["status"] == "completed"
            assert await result(house, run["id"]) == {"success": True, "text": "T1: row 7 right"}
            assert '"text":"T1: row 7 right"' in model.asked[-1].text
            assert "← RESUME: Owner answered trains__book. Continue from here." in model.asked[-1].text
            assert (await house.texts(space))[-1] == ("Bot", "Done.")


async def test_d6_a_server_is_told_that_people_declined_or_did_not_answer(house: House, port: int) -> None:
    _, space = await asks(house, port, call("trains__book", train="T1"), call("trains__book", train="T2"), silent())
    await house.until_waiting()
    first = await card_in(house, space)
    assert (await decline(house.owner, first)).json()["tool"]["output"] == {"status": "declined"}
    assert (await decline(house.owner, first)).status_code == 409
    await house.until_waiting()
    await house.until_idle()
    assert (await result(house, first["runId"]))["status"] == "waiting"
    house.advance(601)

    async def has_ended() -> bool:
        return bool((await house.run(first["runId"]))["status"] == "completed")

    await until(has_ended)
    await house.until_idle()
    [run] = await house.runs()
    assert "T1: decline" in house.model.asked[-1].text
    assert await result(house, run["id"]) == {
        "success": True,
        "text": "T2: cancel",
        "notes": ["The server asked the people in the space, and got no answer in 600 s."],
    }


async def test_d6_several_questions_are_asked_one_after_another(house: House, port: int) -> None:
    _, space = await asks(house, port, call("trains__travel", train="T1"), silent())
    for answer in ({"row": 3}, {"meal": "soup"}):
        await house.until_waiting()
        await house.until_idle()
        card = await card_in(house, space)
        assert next(iter(card["tool"]["resultSchema"]["properties"])) in answer
        assert (await submit(house.owner, card, answer)).status_code == 200
    await house.until_idle()
    [run] = await house.runs()
    assert (await result(house, run["id"], "trains__travel"))["text"] == "T1: row 3 with soup"


async def test_d6_an_older_servers_call_is_held_until_people_answer(old_house: House, old_port: int) -> None:
    house = old_house
    bot, space = await asks(
        house, old_port, call("trains__book", train="T1"), call("trains__book", train="T2"), silent()
    )
    card = await open_card(house, space)
    [run] = await house.runs(bot)
    assert run["status"] == "running"
    assert (card["text"], card["tool"]["mayDecline"]) == ("Where do you want to sit in T1?", True)
    assert (await submit(house.owner, card, {"row": 7})).status_code == 200
    await until(lambda: len(house.model.asked) == 2)
    second = await open_card(house, space)
    assert house.model.asked[1].results[-1] == {"success": True, "text": "T1: row 7 left"}
    assert (await decline(house.owner, second)).status_code == 200
    await house.until_idle()
    assert house.model.asked[-1].results[-1] == {"success": True, "text": "T2: decline"}


async def test_d6_an_older_server_is_told_when_the_time_is_up(old_house: House, old_port: int) -> None:
    house = old_house
    _, space = await asks(house, old_port)
    card = await open_card(house, space)
    house.advance(301)
    await house.until_idle()
    assert (await card_in(house, space))["tool"]["output"] == {"status": "timeout"}
    assert (await result(house, card["runId"])) == {
        "success": True,
        "text": "T1: cancel",
        "notes": ["The server asked the people in the space, and got no answer in 300 s."],
    }


async def test_d6_a_question_ends_with_its_run(old_house: House, old_port: int) -> None:
    house = old_house
    _, space = await asks(house, old_port)
    card = await open_card(house, space)
    await house.owner.ok("POST", f"/api/runs/{card['runId']}/cancel")
    await house.until_idle()
    assert (await card_in(house, space))["tool"]["output"] == {"status": "withdrawn"}
    assert (await submit(house.owner, card, {"row": 7})).json()["error"]["code"] == "withdrawn"


async def test_d6_a_worker_that_takes_a_run_over_withdraws_its_question(old_house: House, old_port: int) -> None:
    """No call is left that an answer could reach."""
    house = old_house
    _, space = await asks(house, old_port)
    card = await open_card(house, space)
    await house.world.gateway.db.write(withdraw_held_cards, card["runId"])
    await house.until_idle()
    assert (await card_in(house, space))["tool"]["output"] == {"status": "withdrawn"}
    assert (await result(house, card["runId"]))["text"] == "T1: cancel"


async def test_d6_without_a_space_the_server_is_told_at_once(house: House, port: int) -> None:
    bot = await house.agent("Bot", mcp=[trains(port)])
    house.model.script = sequence(call("trains__book", train="T1"), silent())
    await house.tell(bot)
    await house.until_idle()
    [found] = house.model.asked[-1].results
    assert found["text"] == "T1: cancel"
    assert "no space is active. Call enter_space" in found["notes"][0]


async def test_d6_a_consciousness_holds_the_call(house: House, port: int) -> None:
    bot = await house.agent("Bot", mcp=[trains(port)], mind="consciousness")
    space = await house.space("Travel", bot)
    house.model.script = each_cycle(call("enter_space", spaceId=space), call("trains__book", train="T1"))
    await house.owner.say(space, "Book a seat")
    card = await open_card(house, space)
    assert (await submit(house.owner, card, {"row": 2})).status_code == 200
    await house.until_idle()
    assert '"text":"T1: row 2 left"' in house.model.asked[-1].text
    assert len(await house.runs(bot)) == 1, "the answer is not an event of its own"


@pytest.mark.parametrize("age", ["new", "old"])
async def test_d6_a_page_to_open_is_shown_as_a_link(settings: Settings, age: str) -> None:
    async with asking_server(old=age == "old") as port, open_house(reaching(settings, port)) as house:
        _, space = await asks(house, port, call("trains__pay"), silent())
        card = await open_card(house, space)
        assert card["tool"]["input"] == {"server": "trains", "question": "Pay for order 7", "url": PAGE}
        assert card["text"] == f"Pay for order 7\n\n{PAGE}"
        assert (await submit(house.owner, card, {})).status_code == 200
        await house.until_idle()
        assert (await result(house, card["runId"], "trains__pay"))["text"] == "accept"


async def test_d6_a_call_that_needs_a_page_first_is_made_again(old_house: House, old_port: int) -> None:
    house = old_house
    _, space = await asks(house, old_port, call("trains__orders"), silent())
    await house.until_waiting()
    card = await card_in(house, space)
    assert card["text"] == f"Sign in\n\n{PAGE}"
    assert (await submit(house.owner, card, {})).status_code == 200
    await house.until_idle()
    assert (await result(house, card["runId"], "trains__orders"))["text"] == "order 7"


async def test_d6_over_stdio_a_question_during_several_calls_is_not_shown(settings: Settings) -> None:
    """Nothing says which call it belongs to, so it could reach the people of another space."""
    command = [sys.executable, "-I", str(Path(__file__).parent / "old_stdio_server.py")]
    async with open_house(settings.model_copy(update={"mcp_commands": ["*"]})) as house:
        bot = await house.agent("Bot", mcp=[{"name": "old", "command": command}])
        first, second = await house.space("One", bot), await house.space("Two", bot)
        house.model.script = lambda asked: call("old__ask", calls=2) if asked.step == 0 else silent()
        await asyncio.gather(*(house.owner.say(space, "Ask") for space in (first, second)))
        await house.until_idle()
        found = [asked.results[-1] for asked in house.model.asked if asked.results]
        assert [each["text"] for each in found] == ["cancel", "cancel"]
        assert all("several calls at once" in each["notes"][0] for each in found)
        house.model.script = sequence(call("old__ask", calls=1), silent())
        await house.owner.say(first, "Ask again")
        # The fields that an answer leaves out have their defaults.
        assert (await submit(house.owner, await open_card(house, first), {})).status_code == 200
        await house.until_idle()
        assert house.model.asked[-1].results == [{"success": True, "text": "accept True"}]


async def test_d6_other_cards_cannot_be_declined(house: House) -> None:
    _, _, card = await asked_by_tool(house)
    refused = await decline(house.owner, card)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "cannot_decline")


def test_d6_a_form_keeps_only_known_parts_of_its_schema() -> None:
    titled = {"type": "string", "oneOf": [{"const": "a", "title": "Option A"}, {"const": "b"}], "x-script": "no"}
    schema = {
        "type": "object",
        "properties": {
            "one": titled,
            "many": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": ["a"]},
            "mail": {"type": "string", "format": "email", "default": "x", "pattern": "^(a+)+$"},
            "file": {"type": "string", "format": "file-id"},
        },
        "required": ["one", "unknown"],
        "$defs": {"x": {}},
    }
    form = read_question("k", ElicitRequestFormParams(message="m", requested_schema=schema)).form
    assert form == {
        "type": "object",
        "properties": {
            "one": {"type": "string", "enum": ["a", "b"], "enumNames": ["Option A", "b"]},
            "many": {
                "type": "array",
                "items": {"type": "string", "enum": ["a", "b"]},
                "uniqueItems": True,
                "default": ["a"],
            },
            "mail": {"type": "string", "format": "email", "default": "x"},
            "file": {"type": "string"},
        },
        "required": ["one"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    "properties",
    [
        {"a": {"type": "object", "properties": {}}},
        {"a": {"$ref": "#"}},
        {"a": {"type": "string", "enum": []}},
        {"a": {"type": "string", "enum": ["\0"]}},
        {"a\ud800": {"type": "string"}},
        {"a": {"type": "string", "maxLength": -1}},
        {f"a{n}": {"type": "string"} for n in range(51)},
        {"a": {"type": "string", "enum": [f"{n}" * 1000 for n in range(90)]}},
        {"a": "string"},
        ["a"],
    ],
)
def test_d6_a_form_that_cannot_be_shown_is_refused(properties: Any) -> None:
    schema = {"type": "object", "properties": properties}
    with pytest.raises(Invalid, match="cannot be shown"):
        read_question("k", ElicitRequestFormParams(message="m", requested_schema=schema))


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://bank@evil.example/", "https:///x", "https://a/\u200b"])
def test_d6_only_plain_web_links_are_shown(url: str) -> None:
    with pytest.raises(Invalid, match="link"):
        read_question("k", ElicitRequestURLParams(message="m", url=url))
