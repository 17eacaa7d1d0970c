"""Behaviours M1–M3, M14, M16: the input of `send_message`, its target, and who sees the origin of a message."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.model_server import Asked, by_agent, call, say, sequence, silent
from tests.runs.house import House, says, timeline


def send_message(asked: Asked) -> dict[str, Any]:
    """The tool as the model sees it."""
    [tool] = [tool["function"] for tool in asked.body["tools"] if tool["function"]["name"] == "send_message"]
    return dict(tool)


async def test_m2_without_waits_the_tool_takes_a_text_and_nothing_else(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout", waits=False))
    house.model.script = sequence(say("Yes?"), say("And?", wait=True), say("So?", messageId="msg_1"), silent())
    await house.owner.say(space, "hello")
    await house.until_idle()
    tool = send_message(house.model.asked[0])
    assert tool["description"] == "Post a message to the active space."
    assert tool["parameters"] == {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "Message text.", "minLength": 1}},
        "required": ["text"],
        "additionalProperties": False,
    }
    sent, waited, answered = house.model.asked[3].results
    message = (await house.owner.history(space))["messages"][1]
    assert sent == {
        "success": True,
        "messageId": message["id"],
        "status": "delivered",
        "wakes": [],
        "notWoken": [],
        "hopsLeft": 4,
    }
    # Unknown input is refused, not ignored, and nothing was sent.
    assert waited["success"] is answered["success"] is False
    assert [text for _, text in await house.texts(space)] == ["hello", "Yes?"]


async def test_m3_with_waits_it_takes_text_message_id_wait_and_mentions(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    house.model.script = sequence(say("Yes?"), silent())
    await house.owner.say(space, "hello")
    await house.until_idle()
    parameters = send_message(house.model.asked[0])["parameters"]
    assert {name: each.get("type") for name, each in parameters["properties"].items()} == {
        "text": "string",
        "messageId": "string",
        "wait": None,
        "mentions": "array",
        "files": "array",
    }
    plain, condition = parameters["properties"]["wait"]["anyOf"]
    assert (plain["type"], list(condition["properties"])) == ("boolean", ["from", "need", "within"])
    assert parameters["required"] == ["text"]
    [result] = house.model.asked[1].results
    assert (result["success"], result["status"]) == (True, "delivered")


async def test_m3_store_then_trigger_and_resume_then_pause(house: House) -> None:
    """The message of the question, the pause of its sender, then everything it triggered."""
    asker, first, second = [await house.agent(name) for name in ("Asker", "First", "Second")]
    space = await house.space("Project Alpha", asker, first, second)

    def second_asks_back(asked: Asked) -> Any:
        return say("Which one?", wait=True) if asked.trigger_text == "Any idea?" and asked.step == 0 else silent()

    house.model.script = by_agent({"Asker": [say("Any idea?", wait=True)], "Second": second_asks_back})
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Ask them")
        question = (await follower.until_message("Any idea?")).data["message"]
        paused = await follower.until("run.waiting_reply", agentId=asker.id)
        assert paused.data["wait"]["messageId"] == question["id"]
        counter = (await follower.until_message("Which one?")).data["message"]
        paused = await follower.until("run.waiting_reply", agentId=second.id)
        assert paused.data["wait"]["messageId"] == counter["id"]
        resumed = await follower.until("run.resumed", agentId=asker.id)
        assert paused.data["eventSeq"] < resumed.data["eventSeq"]
        await house.until_idle()
    order = [(event.type, event.data["agentId"]) for event in follower.seen if event.type.startswith("run.")]
    assert order.index(("run.waiting_reply", asker.id)) < order.index(("run.waiting_reply", second.id))
    # First was triggered by both questions; the second one resumed Asker and did not trigger it (M7).
    assert await house.deliveries(question) == [("First", "passed"), ("Second", "taken")]
    assert await house.deliveries(counter) == [("Asker", "done"), ("First", "passed")]


async def test_m1_nothing_is_stored_or_triggered_without_an_active_space(house: House) -> None:
    scout, other = await house.agent("Scout"), await house.agent("Other")
    space = await house.space("Project Alpha", scout, other)
    house.model.script = by_agent({"Scout": [say("hello?", wait=True), silent()]})
    await house.tell(scout)
    await house.until_idle()
    [result] = house.asked("Scout")[1].results
    assert result["success"] is False
    assert "Call enter_space" in result["error"]
    assert await house.texts(space) == []
    [run] = await house.runs()
    assert (run["agentId"], run["status"]) == (scout.id, "completed")


async def test_m5_an_answer_to_a_message_of_another_space_is_refused(house: House) -> None:
    scout = await house.agent("Scout")
    alpha, beta = await house.space("Alpha", scout), await house.space("Beta")
    elsewhere = await house.owner.say(beta, "a secret")
    house.model.script = sequence(say("Approved.", messageId=elsewhere["id"]), silent())
    await house.owner.say(alpha, "hello")
    await house.until_idle()
    [result] = house.model.asked[1].results
    assert result["error"].startswith(f"Nothing was sent: messageId {elsewhere['id']} is not a message of the active")
    assert await house.texts(alpha) == [("Owner", "hello")]


async def test_m5_an_id_copied_with_its_mark_is_understood(house: House) -> None:
    space = await house.space("Alpha", await house.agent("Scout"))
    house.model.script = lambda asked: says("Hi.", messageId=f"msg:{_trigger_id(asked)}")(asked)
    message = await house.owner.say(space, "hello")
    await house.until_idle()
    answer = (await house.owner.history(space))["messages"][-1]
    assert (answer["text"], answer["replyTo"]) == ("Hi.", message["id"])


async def test_m14_a_message_sent_elsewhere_says_why_to_its_agent_and_only_ids_to_others(house: House) -> None:
    courier, listener = await house.agent("Courier"), await house.agent("Listener")
    husam, sara = await house.person("Husam"), await house.person("Sara")
    alpha = await house.space("Project Alpha", courier, husam)
    beta = await house.space("Project Beta", courier, listener, sara)
    house.model.script = by_agent({"Courier": [call("enter_space", spaceId=beta), say("Budget, please."), silent()]})
    secret = await husam.say(alpha, "Ask Sara for the secret budget")
    await house.until_idle()
    [sent] = (await sara.history(beta))["messages"]
    assert sent["origin"] == {"sourceSpace": alpha, "sourceEvent": secret["id"]}
    # Sara is not in Project Alpha: neither the message nor its effects show its text.
    paths = [
        f"/api/messages/{sent['id']}",
        f"/api/spaces/{beta}/messages",
        f"/api/spaces/{beta}",
        "/api/spaces",
        "/api/runs",
        "/api/search?q=budget",
    ]
    shown = "".join([(await sara.get(path)).text for path in paths])
    assert "Budget, please." in shown
    assert "secret budget" not in shown
    assert "Project Alpha" not in shown
    assert "Husam" not in shown
    assert (await sara.get(f"/api/runs/{sent['runId']}")).status_code == 404
    assert (await sara.get(f"/api/messages/{secret['id']}")).status_code == 404
    # Neither does another agent there.
    assert not any("secret budget" in asked.text for asked in house.asked("Listener"))
    house.model.script = silent_script
    await sara.say(beta, "500K")
    await house.until_idle()
    [again] = [asked for asked in house.invocations("Courier") if asked.trigger_text == "500K"]
    assert timeline(again)[0] == (
        'You: [sent because Husam asked "Ask Sara for the secret budget" in "Project Alpha"]  [SEEN]'
    )
    assert '\n    "Budget, please."\n' in again.text
    [heard] = [asked for asked in house.invocations("Listener") if asked.trigger_text == "500K"]
    assert timeline(heard)[0] == 'Courier: "Budget, please."  [SEEN]'


async def test_m14_an_agent_that_has_left_the_source_space_is_not_reminded_of_it(house: House) -> None:
    courier = await house.agent("Courier")
    alpha, beta = await house.space("Project Alpha", courier), await house.space("Project Beta", courier)
    house.model.script = sequence(call("enter_space", spaceId=beta), say("Budget, please."), silent())
    await house.owner.say(alpha, "Ask for the secret budget")
    await house.until_idle()
    await house.remove(alpha, courier)
    await house.owner.say(beta, "500K")
    await house.until_idle()
    last = house.invocations("Courier")[-1]
    assert "secret budget" not in last.text
    assert timeline(last)[0] == 'Courier: "Budget, please."  [SEEN]'


async def test_m14_a_message_in_the_triggering_space_has_no_origin(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(say("Yes?"), silent())
    await house.owner.say(space, "hello")
    await house.until_idle()
    answer = (await house.owner.history(space))["messages"][-1]
    assert (answer["origin"], answer["sender"]["id"]) == (None, scout.id)
    [run] = await house.runs()
    assert answer["runId"] == run["id"]


async def test_m16_a_repeated_client_id_returns_the_first_message_and_wakes_no_agent_again(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    body = {"text": "hello", "clientId": "c-1"}
    answers = await asyncio.gather(*(house.owner.post(f"/api/spaces/{space}/messages", body) for _ in range(20)))
    await house.until_idle()
    assert sorted(answer.status_code for answer in answers) == [200] * 19 + [201]
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len(await house.runs()) == 1


def silent_script(asked: Asked) -> Any:
    return silent()


def _trigger_id(asked: Asked) -> str:
    return asked.text.split("\n  messageId: ")[1].split("\n")[0]
