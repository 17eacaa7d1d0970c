"""J5, K1: a consciousness asks and continues; the answer, or its absence, is a separate event."""

from __future__ import annotations

import pytest

from majlis.cards import ask as asking
from tests.model_server import call, calls, say
from tests.runs.cards import APPROVE, QUESTION, card_in, submit
from tests.runs.cycles import conscious, each_cycle, inbox, this_cycle
from tests.runs.house import House


async def test_j5_k1_a_consciousness_goes_on_and_the_answer_is_an_event(house: House) -> None:
    scout = await conscious(house, tools=[APPROVE])
    space = await house.space("Releases", scout)
    house.model.script = each_cycle(
        call("enter_space", spaceId=space), call("approve", question=QUESTION), say("I asked.")
    )
    await house.owner.say(space, "go")
    await house.until_idle()
    [run] = await house.runs(scout)
    assert run["status"] == "completed"
    card = await card_in(house, space)
    [result] = [
        turn for turn in this_cycle(house.asked("Scout")[-1]) if turn["role"] == "tool" and "pending" in turn["content"]
    ]
    assert result["content"] == f'{{"status":"pending","toolCallId":"{card["tool"]["callId"]}"}}'
    house.model.script = each_cycle(say("Thank you."))
    assert (await submit(house.owner, card, {"approved": False, "comment": "Not on Friday"})).status_code == 200
    await house.until_idle()
    [line] = inbox(house.asked("Scout")[-1])
    assert line.startswith("[Tool Result: approve")
    assert line.endswith('] {"approved":false,"comment":"Not on Friday"}')
    assert (await submit(house.owner, card, True)).status_code == 409
    assert (await house.texts(space))[-1] == ("Scout", "Thank you.")
    assert [run["trigger"]["type"] for run in await house.runs(scout)] == ["space_message", "tool_result"]


async def test_j5_k1_a_timed_out_and_a_withdrawn_card_are_events_for_a_consciousness(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third question in one cycle exceeds the limit here."""
    monkeypatch.setattr(asking, "MAX_OPEN", 2)
    scout = await conscious(house, tools=[APPROVE, {**APPROVE, "name": "later", "execution": {"timeoutSeconds": 9999}}])
    space = await house.space("Releases", scout)
    three = calls(*((name, {"question": name}) for name in ("approve", "later", "approve")))
    house.model.script = each_cycle(call("enter_space", spaceId=space), three)
    await house.owner.say(space, "go")
    await house.until_idle()
    results = [turn["content"] for turn in this_cycle(house.asked("Scout")[-1]) if turn["role"] == "tool"][1:]
    assert ["pending" in result for result in results] == [True, True, False]
    assert "2 of your questions are still open" in results[2]
    house.model.script = each_cycle()
    asked_before = len(house.model.asked)
    house.advance(601)
    await house.model.until_asked(asked_before + 1)
    await house.until_idle()
    assert inbox(house.asked("Scout")[-1])[0].endswith('{"status":"timeout","message":"No answer within 600 s."}')
    await house.remove(space, scout)
    await house.until_idle()
    assert '"status":"withdrawn"' in inbox(house.asked("Scout")[-1])[0]
    assert (await house.owner.ok("GET", "/api/tool-calls")) == []
