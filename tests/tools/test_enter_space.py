"""Behaviours A: the active space, and `enter_space`, the only way to change it."""

from __future__ import annotations

from typing import Any

from tests.model_server import Asked, Reply, call, calls, say, sequence, silent
from tests.runs.house import House, block


def properties(asked: Asked) -> dict[str, Any]:
    """The input of each tool, as the model sees it."""
    tools = [tool["function"] for tool in asked.body["tools"]]
    return {tool["name"]: tool["parameters"]["properties"] for tool in tools}


async def test_a1_a_run_triggered_by_a_message_starts_in_that_space(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(say("Here."), silent())
    await house.owner.say(space, "Scout?")
    await house.until_idle()
    assert f'ACTIVE SPACE: "Project Alpha" (id: {space})  [auto-set from trigger]' in house.model.asked[0].text
    [run] = await house.runs()
    assert run["activeSpaceId"] == space
    assert (await house.texts(space))[-1] == ("Scout", "Here.")


async def test_a1_m1_a_service_run_starts_nowhere_and_can_send_nothing(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(say("Hello?"), call("read_messages"), silent())
    await house.tell(scout)
    await house.until_idle()
    first, second, third = house.model.asked
    assert "ACTIVE SPACE: none (call enter_space to enter a space first)" in first.text
    assert "SPACE HISTORY" not in first.text
    assert second.results[0]["success"] is False
    assert "enter_space" in second.results[0]["error"]
    assert third.results[1] == {
        "success": False,
        "error": "No space is active. Give spaceId, or call enter_space first.",
    }
    [run] = await house.runs()
    assert (run["status"], run["activeSpaceId"]) == ("completed", None)
    assert await house.texts(space) == []


async def test_a2_entering_returns_the_newest_messages_oldest_first_and_how_many_there_are(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout, triggers="mentioned")
    said = [await house.owner.say(space, f"message {n}") for n in range(1, 6)]
    house.model.script = sequence(call("enter_space", spaceId=space, limit=3), silent())
    await house.tell(scout)
    await house.until_idle()
    [result] = house.model.asked[1].results
    assert {**result, "history": len(result["history"])} == {
        "success": True,
        "spaceId": space,
        "spaceName": "Project Alpha",
        "history": 3,
        "totalMessages": 5,
    }
    assert result["history"] == [
        {
            "messageId": message["id"],
            "timestamp": message["createdAt"],
            "sender": {"id": house.owner.id, "name": "Owner", "type": "human"},
            "text": message["text"],
        }
        for message in said[2:]
    ]


async def test_a2_fifty_messages_are_returned_unless_asked_otherwise(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout, triggers="mentioned")
    for n in range(52):
        await house.owner.say(space, f"message {n}")
    house.model.script = sequence(call("enter_space", spaceId=space), silent())
    await house.tell(scout)
    await house.until_idle()
    [result] = house.model.asked[1].results
    assert [line["text"] for line in result["history"]] == [f"message {n}" for n in range(2, 52)]
    assert result["totalMessages"] == 52


async def test_a2_the_active_space_is_kept_on_the_run_and_lasts_through_a_wait(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(call("enter_space", spaceId=space), say("Well?", wait=True), say("Thanks."))
    await house.tell(scout)
    await house.until_waiting()
    [waiting] = await house.runs()
    assert waiting["activeSpaceId"] == space
    await house.owner.say(space, "Well!")
    await house.until_idle()
    assert f'ACTIVE SPACE: "Project Alpha" (id: {space})\n' in house.model.asked[2].text
    assert (await house.texts(space))[-1] == ("Scout", "Thanks.")


async def test_a3_a_non_member_cannot_enter_a_space_and_stays_where_it_is(house: House) -> None:
    scout = await house.agent("Scout")
    home, foreign = await house.space("Home", scout), await house.space("Foreign")
    await house.owner.say(foreign, "a secret")
    house.model.script = sequence(
        call("enter_space", spaceId=foreign), call("enter_space", spaceId="spc_0000000000000000"), say("Still here.")
    )
    await house.owner.say(home, "go elsewhere")
    await house.until_idle()
    refused, unknown = house.model.asked[2].results
    assert refused["success"] is unknown["success"] is False
    assert refused["error"] == (
        f"You did not enter it, and your active space is unchanged: you are not a member of {foreign}. "
        "Your spaces and their ids are under YOUR SPACES."
    )
    # A space that exists looks like one that does not.
    assert unknown["error"] == refused["error"].replace(foreign, "spc_0000000000000000")
    assert "a secret" not in "".join(asked.text for asked in house.model.asked)
    assert (await house.texts(home))[-1] == ("Scout", "Still here.")
    [run] = await house.runs()
    assert run["activeSpaceId"] == home


async def test_a4_each_message_lands_in_the_space_that_was_active_when_it_was_sent(house: House) -> None:
    courier = await house.agent("Courier")
    a, b = await house.space("A", courier), await house.space("B", courier)
    house.model.script = sequence(
        call("enter_space", spaceId=a), say("one"),
        call("enter_space", spaceId=b), say("two"),
        call("enter_space", spaceId=a), say("three"),
    )  # fmt: skip
    await house.tell(courier)
    await house.until_idle()
    assert await house.texts(a) == [("Courier", "one"), ("Courier", "three")]
    assert await house.texts(b) == [("Courier", "two")]


async def test_a4_the_same_in_a_single_answer_of_the_model(house: House) -> None:
    courier = await house.agent("Courier")
    a, b = await house.space("A", courier), await house.space("B", courier)
    house.model.script = sequence(
        calls(
            ("enter_space", {"spaceId": a}),
            ("send_message", {"text": "one"}),
            ("enter_space", {"spaceId": b}),
            ("send_message", {"text": "two"}),
            ("enter_space", {"spaceId": a}),
            ("send_message", {"text": "three"}),
        )
    )
    await house.tell(courier)
    await house.until_idle()
    assert await house.texts(a) == [("Courier", "one"), ("Courier", "three")]
    assert await house.texts(b) == [("Courier", "two")]


async def test_a4_two_runs_of_one_agent_have_an_active_space_each(house: House) -> None:
    courier = await house.agent("Courier")
    a, b = await house.space("A", courier), await house.space("B", courier)

    def script(asked: Asked) -> Reply:
        target = b if asked.trigger_text == "to B" else a
        return [call("enter_space", spaceId=target), say(f"{asked.trigger_text}!"), silent()][asked.step]

    house.model.script = script
    await house.owner.say(a, "to B")
    await house.owner.say(b, "to A")
    await house.until_idle()
    # The order of the two in a space is not guaranteed.
    assert sorted(await house.texts(a)) == [("Courier", "to A!"), ("Owner", "to B")]
    assert sorted(await house.texts(b)) == [("Courier", "to B!"), ("Owner", "to A")]


async def test_a6_only_three_tools_take_a_space(house: House) -> None:
    for name, waits in (("Waiting", True), ("Plain", False)):
        agent = await house.agent(name, waits=waits)
        await house.tell(agent)
    await house.until_idle()
    for asked in house.model.asked:
        taking = {name for name, given in properties(asked).items() if any("space" in key.lower() for key in given)}
        assert taking == {"enter_space", "read_messages", "search_messages"}
        assert not any("spaceId" in str(given) for name, given in properties(asked).items() if name not in taking)


async def test_a_space_that_was_entered_shows_the_agent_at_work_there(house: House) -> None:
    scout = await house.agent("Scout")
    a, b = await house.space("A", scout), await house.space("B", scout)
    house.model.script = sequence(call("enter_space", spaceId=b), call("enter_space", spaceId=a), silent())
    async with house.owner.follow(b) as follower:
        await house.owner.say(a, "go and come back")
        await follower.until("agent.active", agentId=scout.id)
        await follower.until("agent.inactive", agentId=scout.id)
    await house.until_idle()


async def test_your_spaces_marks_the_active_one(house: House) -> None:
    scout = await house.agent("Scout")
    a, b = await house.space("A", scout), await house.space("B", scout)
    await house.owner.say(b, "hello")
    await house.until_idle()
    assert block(house.model.asked[0], "YOUR SPACES") == [
        f'- "A" (id: {a}) — Owner (human), You',
        f'- "B" (id: {b}) [ACTIVE] — Owner (human), You',
    ]
