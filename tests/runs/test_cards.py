"""J5: interactive tools. A card in the space, a waiting run, and the first valid answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from majlis.agents.config.validate import problem_with
from majlis.settings import Settings
from tests.model_server import ModelServer, Reply, call, calls, say, sequence, silent
from tests.runs.cards import APPROVE, QUESTION, asked, card_in, submit
from tests.runs.house import House, timeline
from tests.world import serve_world

FORM: dict[str, Any] = {
    "name": "plan_release",
    "type": "space",
    "ui": "form",
    "execution": {
        "resultSchema": {
            "type": "object",
            "properties": {
                "version": {"type": "string", "pattern": "^[0-9.]+$"},
                "hosts": {"type": "integer", "minimum": 1},
                "notify": {"type": "boolean"},
                "stage": {"enum": ["test", "live"]},
                "day": {"type": "string", "format": "date"},
                "teams": {"type": "array", "items": {"enum": ["web", "data"]}, "uniqueItems": True},
                "notes": {"type": "string", "format": "file-name"},
            },
            "required": ["version", "day"],
            "additionalProperties": False,
        }
    },
}
PLANNED = {"version": "1.4", "hosts": 2, "notify": True, "stage": "live", "day": "2026-12-01", "teams": ["web"]}


async def test_j5_a_card_shows_the_question_and_the_run_waits_as_a_row(house: House) -> None:
    async with house.owner.follow() as follower:
        bot, space, card = await asked(house)
        paused = (await follower.until("run.waiting_tool", agentId=bot.id)).data
    await house.until_idle()
    [run] = await house.runs(bot)
    assert run["status"] == "waiting_tool"
    assert (paused["runId"], paused["toolCallId"], paused["toolName"]) == (run["id"], card["tool"]["callId"], "approve")
    assert run["wait"] == {**paused["wait"], "toolCallId": card["tool"]["callId"], "toolName": "approve"}
    assert (run["wait"]["messageId"], run["wait"]["spaceId"]) == (card["id"], space)
    assert (card["kind"], card["text"], card["runId"]) == ("tool", QUESTION, run["id"])
    tool = card["tool"]
    assert (tool["name"], tool["ui"], tool["input"], tool["output"]) == (
        "approve",
        "approval",
        {"question": QUESTION},
        None,
    )
    assert (tool["status"], tool["purpose"]) == ("running", "answer")
    assert tool["resultSchema"]["required"] == ["approved"]
    worker = house.world.gateway.worker
    assert worker is not None
    assert (worker.active, house.model.open_requests) == (0, 0)
    # A message in the space is not an answer.
    await house.owner.say(space, "yes!")
    await house.until_idle()
    assert (await house.run(run["id"]))["status"] == "waiting_tool"
    async with house.owner.follow(space) as follower:
        [pending] = (await follower.next()).data["pendingToolCalls"]
    assert pending == (await house.owner.ok("GET", "/api/tool-calls", spaceId=space))[0]
    assert (pending["toolCallId"], pending["runId"], pending["messageId"]) == (tool["callId"], run["id"], card["id"])
    assert (pending["agentName"], pending["ui"], pending["resultSchema"]) == ("Bot", "approval", tool["resultSchema"])


async def test_j5_the_submitted_value_is_the_result_in_the_same_run(house: House) -> None:
    bot, space, card = await asked(house, say("Done."))
    async with house.owner.follow(space) as follower:
        response = await submit(house.owner, card, {"approved": True, "comment": "Go"})
        told = (await follower.until("space.message")).data["message"]
    assert response.status_code == 200
    await house.until_idle()
    assert response.json() == told == await card_in(house, space)
    tool = told["tool"]
    assert (tool["status"], tool["output"]) == ("complete", {"approved": True, "comment": "Go"})
    assert tool["answeredBy"] == {"id": house.owner.id, "name": "Owner", "type": "human"}
    assert tool["answeredAt"] >= card["createdAt"]
    [run] = await house.runs(bot)
    assert (run["status"], run["wait"]) == ("completed", None)
    steps = await house.owner.ok("GET", f"/api/runs/{run['id']}/steps")
    [step] = [step for step in steps if step.get("name") == "approve"]
    assert (step["state"], step["output"]) == ("done", {"approved": True, "comment": "Go"})
    # M10: a new request without open calls; everything is on the timeline.
    resumed = house.invocations("Bot")[-1]
    assert {message["role"] for message in resumed.messages} == {"system", "user"}
    assert timeline(resumed)[1:] == [
        f'You: called approve({{"question":"{QUESTION}"}}) → {{"approved":true,"comment":"Go"}}',
        "← RESUME: Owner answered approve. Continue from here.",
    ]
    assert (await house.owner.ok("GET", "/api/tool-calls")) == []


async def test_j5_a_roles_mind_waits_and_goes_on_in_the_same_run(house: House) -> None:
    bot, space, card = await asked(house, say("Done."), mind="roles")
    assert (await submit(house.owner, card, False)).status_code == 200
    await house.until_idle()
    assert (await house.texts(space))[-1] == ("Bot", "Done.")
    assert [run["status"] for run in await house.runs(bot)] == ["completed"]
    resumed = house.invocations("Bot")[-1].text
    assert f'You: called approve({{"question":"{QUESTION}"}})' in resumed
    assert '→ {"approved":false}' in resumed
    assert "← RESUME: Owner answered approve. Continue from here." in resumed


async def test_j5_only_one_of_two_concurrent_answers_counts(house: House) -> None:
    bot, space, card = await asked(house, say("Done."))
    sara = await house.person("Sara")
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": sara.id})
    answers = await asyncio.gather(
        *(submit(person, card, {"approved": yes}) for person, yes in ((sara, True), (house.owner, False)))
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    [lost] = [answer for answer in answers if answer.status_code == 409]
    assert lost.json()["error"]["code"] == "answered_already"
    await house.until_idle()
    [won] = [answer.json()["tool"] for answer in answers if answer.status_code == 200]
    assert (await card_in(house, space))["tool"] == won
    assert won["output"]["approved"] is (won["answeredBy"]["name"] == "Sara")
    assert [run["status"] for run in await house.runs(bot)] == ["completed"]
    assert len(house.invocations("Bot")) == 2


async def test_j5_an_answer_after_a_restart_of_every_process(settings: Settings) -> None:
    async with ModelServer() as model:
        async with serve_world(settings) as world:
            _, space, card = await asked(House(world, model), say("Done."))
        async with serve_world(settings) as world:
            house = House(world, model)
            assert (await submit(house.owner, card, True)).status_code == 200
            await house.until_idle()
            [run] = await house.runs()
            assert (run["id"], run["status"]) == (card["runId"], "completed")
            assert (await house.texts(space))[-1] == ("Bot", "Done.")
            assert timeline(model.asked[-1])[-2].endswith('→ {"approved":true}')


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ({**PLANNED, "version": "new"}, "version"),
        ({**PLANNED, "hosts": 0}, "hosts"),
        ({**PLANNED, "notify": "yes"}, "notify"),
        ({**PLANNED, "stage": "prod"}, "stage"),
        ({**PLANNED, "day": "1.12.2026"}, "day"),
        ({**PLANNED, "day": "2026-02-30"}, "day"),
        ({**PLANNED, "teams": ["web", "web"]}, "teams"),
        ({**PLANNED, "teams": ["web", "press"]}, "teams.1"),
        ({**PLANNED, "notes": "../etc/passwd"}, "notes"),
        ({**PLANNED, "notes": ".."}, "notes"),
        ({**PLANNED, "more": 1}, "more"),
        ({"version": "1.4"}, "day"),
        ("1.4", ""),
    ],
)
def test_j5_a_form_answer_is_checked_field_by_field(wrong: Any, path: str) -> None:
    schema = FORM["execution"]["resultSchema"]
    assert problem_with(schema, PLANNED) is None
    found = problem_with(schema, wrong)
    assert found is not None
    assert found.place() == path


async def test_j5_an_answer_that_breaks_the_schema_leaves_the_form_open(house: House) -> None:
    _, space, card = await asked(house, say("Planned."), tool=FORM)
    for wrong, path in (({"day": "soon"}, "result.day"), ({"version": "1\x00"}, "result.version")):
        refused = await submit(house.owner, card, {**PLANNED, **wrong})
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "invalid_result")
        assert refused.json()["error"]["details"]["path"] == path
    assert (await submit(house.owner, card, {**PLANNED, "notes": "x" * 70_000})).status_code == 422
    assert (await house.run(card["runId"]))["status"] == "waiting_tool"
    assert (await card_in(house, space))["tool"]["status"] == "running"
    assert (await submit(house.owner, card, {**PLANNED, "notes": "notes.md"})).status_code == 200
    await house.until_idle()
    assert (await house.texts(space))[-1] == ("Bot", "Planned.")


async def test_j5_a_choice_is_one_of_the_options_of_the_call_or_of_the_config(house: House) -> None:
    tool = {"name": "pick", "type": "space", "ui": "choice", "execution": {"options": ["red", "blue"]}}
    _, space, card = await asked(house, call("pick", question="And now?", options=["A", "B"]), tool=tool)
    assert (await submit(house.owner, card, "green")).status_code == 422
    assert (await submit(house.owner, card, "blue")).json()["tool"]["output"] == {"choice": "blue"}
    await house.until_waiting()
    await house.until_idle()
    second = await card_in(house, space)
    assert (await submit(house.owner, second, {"choice": "blue"})).status_code == 422
    assert (await submit(house.owner, second, {"choice": "A"})).json()["tool"]["output"] == {"choice": "A"}


async def test_j5_without_an_active_space_the_result_says_to_enter_one(house: House) -> None:
    bot = await house.agent("Bot", tools=[APPROVE])
    house.model.script = sequence(call("approve", question=QUESTION))
    await house.tell(bot)
    await house.until_idle()
    [result] = house.asked("Bot")[-1].results
    assert result["success"] is False
    assert "Call enter_space" in result["error"]


async def test_j5_calls_after_a_card_are_not_made(house: House) -> None:
    """As after a message that waits: the model decides again when it has the answer."""
    bot = await house.agent("Bot", tools=[APPROVE])
    space = await house.space("Releases", bot)
    both = calls(("approve", {"question": QUESTION}), ("send_message", {"text": "I am deploying!"}))
    house.model.script = sequence(both, silent())
    await house.owner.say(space, "go")
    await house.until_waiting()
    await house.until_idle()
    [run] = await house.runs(bot)
    assert run["notes"] == ["send_message was not called: the run paused before it."]
    assert ("Bot", "I am deploying!") not in await house.texts(space)


async def test_j5_the_same_id_of_two_calls_in_one_run_asks_twice(house: House) -> None:
    """Some models number their calls from 1 in every response."""
    raw = _raw_call("approve", '{"question": "?"}', "call_1")
    bot, space = await house.agent("Bot", tools=[APPROVE]), ""
    space = await house.space("Releases", bot)
    house.model.script = sequence(Reply(raw=raw), Reply(raw=raw))
    await house.owner.say(space, "go")
    await house.until_waiting()
    first = await card_in(house, space)
    assert (await submit(house.owner, first, True)).status_code == 200
    await house.until_waiting()
    second = await card_in(house, space)
    assert first["tool"]["callId"] == "call_1" != second["tool"]["callId"]
    assert (await submit(house.owner, second, False)).status_code == 200
    await house.until_idle()
    assert [run["status"] for run in await house.runs(bot)] == ["completed"]


@pytest.mark.parametrize(("answer", "said"), [(True, "The kettle is on."), (False, "OK, the kettle stays off.")])
async def test_j5_the_demo_agents_ask_for_approval(settings: Settings, answer: bool, said: str) -> None:
    async with ModelServer() as unused, serve_world(settings) as world:
        await world.gateway.create_lobby()
        house = House(world, unused)
        await house.until_waiting()
        [lobby] = await house.owner.ok("GET", "/api/spaces")
        await house.owner.say(lobby["id"], "Lena")
        await house.until_idle()
        await house.owner.say(lobby["id"], "ask for my approval")
        await house.until_waiting()
        card = await card_in(house, lobby["id"])
        assert (card["sender"]["name"], card["text"]) == ("Nadim", "Shall I put the kettle on, Owner?")
        assert (await submit(house.owner, card, answer)).status_code == 200
        await house.until_idle()
        assert any(text.startswith(said) for _, text in await house.texts(lobby["id"]))


def _raw_call(name: str, arguments: str, call_id: str) -> bytes:
    function = {"name": name, "arguments": arguments}
    delta = {"role": "assistant", "tool_calls": [{"index": 0, "id": call_id, "type": "function", "function": function}]}
    chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    events = [{**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]}]
    return b"".join(b"data: %b\n\n" % json.dumps(each).encode() for each in events) + b"data: [DONE]\n\n"
