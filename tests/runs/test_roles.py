"""R: agents with the roles mind, from message to message, in the real engine."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa

from majlis.settings import Settings
from majlis.store.tables import members
from majlis.store.transactions import Tx
from tests.minds.roles.scenes import TIMES
from tests.model_server import Asked, Reply, by_agent, call, say, sequence, silent
from tests.runs.cards import asked as asked_people
from tests.runs.cards import submit
from tests.runs.house import House, once, open_house, says
from tests.world import Person

pytestmark = pytest.mark.usefixtures("standing_clock")


async def roles(house: House, name: str, **config: Any) -> Person:
    return await house.agent(name, mind="roles", **config)


def conversation(asked: Asked) -> list[tuple[str, str]]:
    """The turns after the system message, without the times of the messages."""
    first, *rest = asked.messages
    assert first["role"] == "system"
    return [(turn["role"], turn["content"]) for turn in rest if not turn["content"].startswith(TIMES)]


async def known(house: House, agent: Person, space: str) -> int | None:
    def read(tx: Tx) -> int | None:
        mine = members.c.space_id == space, members.c.entity_id == agent.id
        found: int | None = tx.execute(sa.select(members.c.processed_seq).where(*mine)).scalar_one()
        return found

    return await house.world.gateway.db.read(read)


async def test_r1_r2_r3_a_conversation_of_two_agents_is_shown_to_each_as_its_own(house: House) -> None:
    coder, tester = await roles(house, "Coder"), await roles(house, "Tester")
    space = await house.space("Project Alpha", coder, tester, triggers="mentioned")
    house.model.script = by_agent({"Coder": says("Written."), "Tester": says("Works.")})
    await house.owner.say(space, "@Coder write it")
    await house.until_idle()
    assert await known(house, coder, space) == 2
    assert await known(house, tester, space) is None, "a silent member has no state"
    await house.owner.say(space, "@Tester try it")
    await house.until_idle()
    await house.owner.say(space, "@Coder thank you")
    await house.until_idle()
    await house.owner.say(space, "@Coder and again")
    await house.until_idle()
    first, second, third = [conversation(asked) for asked in house.invocations("Coder")]
    assert first == [("user", "@Coder write it")]
    assert third == [
        ("user", "@Coder write it"),
        ("assistant", "Written."),
        ("user", "@Tester try it"),
        ("user", "[Tester]: Works."),
        ("user", "@Coder thank you"),
        ("assistant", "Written."),
        ("user", "@Coder and again"),
    ]
    assert [conversation(asked) for asked in house.invocations("Tester")] == [
        [("user", "@Coder write it"), ("user", "[Coder]: Written."), ("user", "@Tester try it")]
    ]
    assert second == [
        ("user", "@Coder write it"),
        ("assistant", "Written."),
        (
            "user",
            "=== MESSAGES WHILE YOU WERE AWAY ===\n\n🟢 USER: @Tester try it\n\n💬 Tester: Works.\n\n"
            "=== END OF HISTORY ===\n\n=== NEW INTERACTION ===",
        ),
        ("user", "@Coder thank you"),
    ]


async def test_m2_its_tool_has_one_input_and_the_models_own_text_is_never_shown(house: House) -> None:
    coder = await roles(house, "Coder", waits=True)
    space = await house.space("Project Alpha", coder)
    house.model.script = sequence(silent("I would say yes."), silent("Yes."))
    await house.owner.say(space, "Coder?")
    await house.until_idle()
    # It is told once that its text was not sent (E10).
    asked, _ = house.asked("Coder")
    [send] = [tool["function"] for tool in asked.body["tools"] if tool["function"]["name"] == "send_message"]
    assert list(send["parameters"]["properties"]) == ["text"]
    assert "hand_over" in asked.tool_names
    assert "route" not in asked.tool_names, "only for an orchestrator"
    assert [sender for sender, _ in await house.texts(space)] == ["Owner"]
    [run] = await house.runs(coder)
    assert run["notes"] == ["The model wrote text but did not send a message."]


async def test_r5_a_retry_of_the_same_trigger_sees_the_same_and_comes_before_what_was_said_after_it(
    house: House,
) -> None:
    house.try_models_once()
    coder = await roles(house, "Coder")
    space = await house.space("Project Alpha", coder, triggers="mentioned")
    house.model.script = sequence(say("One."), silent(), Reply(status=500), silent(), silent())
    await house.owner.say(space, "@Coder first")
    await house.until_idle()
    await house.owner.say(space, "unheard")
    await house.owner.say(space, "@Coder second")
    await house.until_idle()
    await house.owner.say(space, "@Coder third")
    house.advance(0.1)
    await house.owner.ok("POST", f"/api/spaces/{space}/phase", {"phase": "review", "summary": "Said meanwhile."})
    house.advance(2)
    await house.until_idle()
    _, failed, again, third = [conversation(asked) for asked in house.invocations("Coder")]
    assert failed == again
    assert "🟢 USER: unheard" in again[-2][1]
    assert again[-1] == ("user", "@Coder second")
    assert third[-1] == ("user", "@Coder third")
    assert third[-2][1].startswith("=== HANDED OVER BY Owner ===\n\n**Previous context**: Said meanwhile."), (
        "a change of phase is for those after it"
    )
    assert third[-3] == ("user", "@Coder second"), "each message once, and nothing was missed"
    assert await known(house, coder, space) == 5


async def test_r5_one_run_at_a_time_in_a_space_and_beside_each_other_in_two(house: House) -> None:
    coder = await roles(house, "Coder")
    here, there = await house.space("Here", coder), await house.space("There", coder)
    gate = asyncio.Event()

    def script(asked: Asked) -> Reply:
        text = asked.messages[-1]["content"]
        return Reply(calls=[("send_message", {"text": f"to {text}"})], gate=gate) if asked.step == 0 else silent()

    house.model.script = script
    for text in ("a", "b", "c"):
        await house.owner.say(here, text)
    await house.owner.say(there, "d")
    await house.model.until_open(2)
    assert sorted(asked.messages[-1]["content"] for asked in house.asked("Coder")) == ["a", "d"]
    gate.set()
    await house.until_idle()
    shown = {asked.messages[-1]["content"]: conversation(asked) for asked in house.invocations("Coder")}
    assert shown["b"][:-2] == [("user", "a")]
    assert shown["b"][-2][1].startswith("=== YOU SENT MESSAGES HERE AFTER"), "it answered a after b was written"
    # Its answer to a came after c, so the run of c sees only that there are answers.
    assert [text for role, text in shown["c"] if role == "user" and not text.startswith("===")] == ["a", "b", "c"]
    assert [text for _, text in await house.texts(here)] == ["a", "b", "c", "to a", "to b", "to c"]
    for asked in house.invocations("Coder"):
        said = [text for _, text in conversation(asked)]
        assert len(said) == len(set(said))


async def test_r5_deliveries_that_wait_in_one_space_do_not_block_others(settings: Settings) -> None:
    """More than fits in one look: deliveries that wait for a run must not hide those after them."""
    async with open_house(settings.model_copy(update={"workers": 3})) as house:
        coder, scout = await roles(house, "Coder"), await house.agent("Scout")
        busy, other = await house.space("Busy", coder), await house.space("Other", coder)
        third = await house.space("Third", scout)
        gate = asyncio.Event()
        house.model.script = lambda asked: Reply(gate=gate) if asked.text.endswith("m0") else silent()
        await house.owner.say(busy, "m0")
        await house.model.until_open(1)
        for n in range(1, 6):
            await house.owner.say(busy, f"m{n}")
        await house.owner.say(other, "hello")
        await house.owner.say(third, "hello")
        await house.model.until_asked(3)
        gate.set()
        await house.until_idle()
        asked = [each.messages[-1]["content"] for each in house.asked("Coder")]
        assert asked == ["m0", "hello", "m1", "m2", "m3", "m4", "m5"]


async def test_c2_a_canceled_run_moves_no_cursor(house: House) -> None:
    coder = await roles(house, "Coder")
    space = await house.space("Project Alpha", coder)
    house.model.script = lambda asked: Reply(gate=asyncio.Event())
    await house.owner.say(space, "one")
    await house.model.until_open(1)
    [run] = await house.runs(coder)
    await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
    await house.model.until_open(0)
    assert await known(house, coder, space) is None
    house.model.script = once(silent())
    await house.owner.say(space, "two")
    await house.until_idle()
    assert conversation(house.asked("Coder")[-1]) == [("user", "one"), ("user", "two")]


async def test_r6_a_hand_over_is_shown_to_the_next_agents(house: House) -> None:
    planner, coder = await roles(house, "Planner"), await roles(house, "Coder")
    space = await house.space("Project Alpha", planner, coder, triggers="mentioned")
    handing = call("hand_over", phase="build", summary="Two pages, blue.", message="Over to you", reason="agreed")
    house.model.script = by_agent({"Planner": once(handing), "Coder": once(silent())})
    await house.owner.say(space, "@Planner plan it")
    await house.until_idle()
    [phase] = await house.owner.ok("GET", f"/api/spaces/{space}/phases")
    expected = {"fromPhase": None, "toPhase": "build", "message": "Over to you", "summary": "Two pages, blue."}
    assert {name: phase[name] for name in expected} == expected
    assert (phase["reason"], phase["entityId"]) == ("agreed", planner.id)
    assert (await house.owner.space(space))["phase"] == "build"
    await house.owner.say(space, "@Coder build it")
    await house.until_idle()
    [asked] = house.asked("Coder")
    assert conversation(asked)[-2:] == [
        ("user", "=== HANDED OVER BY Planner ===\n\n**Previous context**: Two pages, blue.\n\n=== NEW INTERACTION ==="),
        ("user", "@Coder build it"),
    ]
    assert 'phase: "build"' in asked.system
    # By a person, and to an agent that has also missed messages.
    await house.owner.ok("POST", f"/api/spaces/{space}/phase", {"phase": "review", "summary": "It stands."})
    await house.owner.say(space, "nobody in particular")
    await house.owner.say(space, "@Planner look at it")
    await house.until_idle()
    block = conversation(house.invocations("Planner")[-1])[-2][1]
    assert block.startswith(
        "=== MESSAGES WHILE YOU WERE AWAY ===\n\n=== HANDED OVER BY Owner ===\n\n"
        "**Previous context**: It stands.\n\n🟢 USER: @Coder"
    )


async def test_r7_a_session_comes_with_a_message_goes_out_with_the_request_and_is_replaced_by_a_newer_one(
    house: House,
) -> None:
    coder = await roles(house, "Coder")
    space, other = await house.space("Project Alpha", coder), await house.space("Other", coder)
    sessions = iter([{}, {"X-Session-Id": "s2"}, {}])
    house.model.script = lambda asked: Reply(headers=next(sessions))
    for text, more in (("one", {"sessionId": "s1"}), ("two", {}), ("three", {})):
        await house.owner.say(space, text, **more)
        await house.until_idle()
    assert [asked.headers.get("x-session-id") for asked in house.asked("Coder")] == ["s1", "s1", "s2"]
    assert house.asked("Coder")[0].body["metadata"] == {"session_id": "s1"}
    refused = await house.owner.post(f"/api/spaces/{other}/messages", {"text": "go on", "sessionId": "s2"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "session_bound")
    assert await house.texts(other) == []


async def test_r7_a_model_that_returns_the_session_of_another_agent_is_ignored(house: House) -> None:
    coder = await roles(house, "Coder")
    space, other = await house.space("Project Alpha", coder), await house.space("Other", coder)
    house.model.script = lambda asked: Reply(headers={"X-Session-Id": "shared"})
    for where in (space, other, other):
        await house.owner.say(where, "hello")
        await house.until_idle()
    assert [asked.headers.get("x-session-id") for asked in house.asked("Coder")] == [None, None, None]
    first, *rest = await house.runs(coder)
    assert first["notes"] == []
    assert all("belongs to another agent or space" in run["notes"][0] for run in rest)
    assert all(run["status"] == "completed" for run in rest)


async def test_r9_a_damaged_message_is_named_on_the_run_and_the_rest_is_shown(house: House) -> None:
    coder = await roles(house, "Coder")
    space = await house.space("Project Alpha", coder, triggers="mentioned")
    said = [await house.owner.say(space, text) for text in ("one", "two")]
    broken = sa.text("UPDATE messages SET tool = '[1]' WHERE id = :id")
    await house.world.gateway.db.write(lambda tx: tx.execute(broken, {"id": said[0]["id"]}).rowcount)
    await house.owner.say(space, "@Coder go")
    await house.until_idle()
    assert conversation(house.asked("Coder")[0]) == [("user", "two"), ("user", "@Coder go")]
    [run] = await house.runs(coder)
    assert run["notes"] == [f"Message {said[0]['id']} is damaged and was left out: its tool is not an object."]
    assert await known(house, coder, space) == 3


@pytest.mark.parametrize("engine", ["sqlite"])
@pytest.mark.parametrize("mind", ["timeline", "roles"])
async def test_r9_no_row_that_cannot_be_read_stops_an_agent_or_a_tool(house: House, mind: str) -> None:
    scout = await house.agent("Scout", mind=mind)
    space = await house.space("Project Alpha", scout, triggers="mentioned")
    said = [await house.owner.say(space, text) for text in ("one", "two")]
    broken = sa.text("UPDATE messages SET mentions = 'no', tool = 'json', origin = '{' WHERE id = :id")
    await house.world.gateway.db.write(lambda tx: tx.execute(broken, {"id": said[0]["id"]}).rowcount)
    house.model.script = once(call("read_messages"), say("Read."))
    await house.owner.say(space, "@Scout go")
    await house.until_idle()
    assert '"one"' not in house.asked("Scout")[0].text
    read = house.asked("Scout")[1].results[0]
    assert [message["text"] for message in read["messages"]] == ["two", "@Scout go"]
    assert [text for _, text in await house.texts(space)] == ["two", "@Scout go", "Read."]
    assert len(house.invocations("Scout")) == 1


async def test_plans_and_services_reach_it_without_a_conversation(house: House) -> None:
    coder = await roles(house, "Coder")
    space = await house.space("Project Alpha", coder)
    house.model.script = once(call("enter_space", spaceId=space), say("Order 7 came in."))
    await house.tell(coder, {"order": 7})
    await house.until_idle()
    shown = conversation(house.invocations("Coder")[0])
    assert shown == [("user", 'TRIGGER:\n  type: service\n  service: "Shop"\n  payload: {"order":7}')]
    assert f"(id: {space})" in house.asked("Coder")[0].system
    assert await house.texts(space) == [("Coder", "Order 7 came in.")]


async def test_j5_a_card_holds_up_what_is_said_after_it_and_its_answer_is_shown_to_the_run(house: House) -> None:
    bot, space, card = await asked_people(house, say("Deployed."), silent(), silent(), mind="roles")
    await house.owner.say(space, "And then?")
    assert (await submit(house.owner, card, {"approved": True})).is_success
    await house.until_idle()
    _, resumed, _, then = house.asked("Bot")
    so_far = conversation(resumed)[-1][1]
    assert so_far.startswith("=== THIS RUN SO FAR")
    assert '{"approved":true}' in so_far
    assert "Continue from here." in so_far
    assert conversation(then)[-1] == ("user", "And then?")
    assert [run["status"] for run in await house.runs(bot)] == ["completed", "completed"]


async def test_j2_a_try_that_follows_a_failed_one_is_shown_what_was_done(house: House) -> None:
    house.try_models_once()
    coder = await roles(house, "Coder")
    space = await house.space("Project Alpha", coder)
    house.model.script = sequence(say("Half."), Reply(status=500), silent())
    await house.owner.say(space, "Coder?")
    await house.until_idle()
    house.advance(2)
    await house.until_idle()
    again = conversation(house.asked("Coder")[-1])
    assert again[0] == ("user", "Coder?")
    assert again[-1][1].startswith("=== THIS RUN SO FAR: do not repeat these calls ===\n  [msg:")
    assert 'You: called send_message("Half.")' in again[-1][1]
    assert await house.texts(space) == [("Owner", "Coder?"), ("Coder", "Half.")]
