"""M8, M9, M12: the run's journal shows how a wait ended, not only the prompt."""

from __future__ import annotations

from typing import Any

from tests.model_server import say, silent
from tests.runs.house import House
from tests.runs.questions import asking
from tests.runs.test_deadlocks import agents_only, end_ring, ring
from tests.world import Person


async def waited(reader: Person, run_id: str) -> Any:
    """The results of the calls that could wait."""
    journal = await reader.ok("GET", f"/api/runs/{run_id}/steps")
    return [step["output"] for step in journal if step.get("name") == "send_message"]


async def test_m9_a_wait_that_timed_out_has_the_result_timeout_and_no_reply(house: House) -> None:
    """It used to read "waiting" forever."""
    _, _, question = await asking(house, silent())
    [run] = await house.runs()
    [sent] = await waited(house.owner, run["id"])
    assert (sent["messageId"], sent["status"]) == (question["id"], "waiting")
    house.advance(300)
    await house.model.until_asked(2)
    await house.until_idle()
    assert await waited(house.owner, run["id"]) == [{"success": True, "messageId": question["id"], "status": "timeout"}]


async def test_m5_a_wait_that_was_answered_names_the_answer_each_time(house: House) -> None:
    _, space, first = await asking(house, say("And?", wait=True), silent())
    answers = [await house.owner.say(space, "One.")]
    await house.model.until_asked(2)
    await house.until_waiting()
    second = (await house.owner.history(space))["messages"][-1]
    answers.append(await house.owner.say(space, "Two.", replyTo=second["id"]))
    await house.until_idle()
    [run] = await house.runs()
    assert await waited(house.owner, run["id"]) == [
        {
            "success": True,
            "messageId": question["id"],
            "status": "replied",
            "reply": {"messageId": answer["id"], "senderId": house.owner.id, "senderName": house.owner.name},
        }
        for question, answer in zip((first, second), answers, strict=True)
    ]


async def test_m12_a_ring_ends_with_the_result_timeout_and_its_reason(house: House) -> None:
    ann, bob = await house.agent("Ann"), await house.agent("Bob")
    first, second = await agents_only(house, "First", ann, bob), await agents_only(house, "Second", ann, bob)
    await ring(house, ann, first, second)
    await end_ring(house)
    [run] = [each for each in (await bob.ok("GET", "/api/runs"))["runs"] if each["trigger"]["text"] == "Bob?"]
    [result] = await waited(bob, run["id"])
    assert (result["status"], result["reason"]) == ("timeout", "deadlock")
