"""M8, M9: what ends a wait besides an answer in time, and answers that come too late."""

from __future__ import annotations

import pytest

from tests.model_server import say, sequence, silent
from tests.runs.house import House, timeline
from tests.runs.questions import asking

pytestmark = pytest.mark.usefixtures("standing_clock")


async def test_m9_time_is_up_and_the_run_goes_on_without_an_answer(house: House) -> None:
    asker, space, _ = await asking(house, say("Nobody answered."), limits={"waitSeconds": 60})
    house.advance(59)
    await house.until_idle()
    [run] = await house.runs()
    assert run["status"] == "waiting_reply"
    house.advance(1)
    await house.model.until_asked(3)
    await house.until_idle()
    [run] = await house.runs()
    assert (run["agentId"], run["status"]) == (asker.id, "completed")
    assert timeline(house.model.asked[1])[-2:] == [
        'You: called send_message("Well?", wait: true)',
        "← RESUME: timeout, nobody replied within 60 s. Continue from here.",
    ]
    assert (await house.texts(space))[-1] == ("Asker", "Nobody answered.")


@pytest.mark.parametrize("threaded", [True, False])
async def test_m8_a_late_answer_is_an_ordinary_trigger_marked_as_such(house: House, threaded: bool) -> None:
    asker, space, question = await asking(house, silent())
    house.advance(300)
    await house.model.until_asked(2)
    await house.until_idle()
    more = {"replyTo": question["id"]} if threaded else {}
    late = await house.owner.say(space, "Sorry, I was away. Fine!", **more)
    await house.until_idle()
    first, second = await house.runs(asker)
    assert (first["status"], second["status"]) == ("completed", "completed")
    assert (second["trigger"]["messageId"], second["trigger"]["answersExpired"]) == (late["id"], question["id"])
    assert (
        f"  answersExpired: {question['id']} (your question there had timed out)\n"
        in house.invocations("Asker")[2].text
    )


async def test_m8_a_late_answer_is_marked_also_when_the_run_has_asked_again_meanwhile(house: House) -> None:
    asker, space, question = await asking(house, say("Anybody?", wait=True), silent())
    house.advance(300)
    await house.model.until_asked(2)
    await house.until_waiting()
    await house.owner.say(space, "Sorry, I was away. Fine!", replyTo=question["id"])
    await house.until_idle()
    waiting, late = await house.runs(asker)
    assert (waiting["status"], late["status"]) == ("waiting_reply", "completed")
    assert late["trigger"].get("answersExpired") == question["id"]


async def test_m8_an_answer_in_time_is_not_marked_as_late(house: House) -> None:
    _, space, question = await asking(house, silent())
    await house.owner.say(space, "Fine")
    await house.until_idle()
    await house.owner.say(space, "And another thing", replyTo=question["id"])
    await house.until_idle()
    assert "answersExpired" not in (await house.runs())[-1]["trigger"]


async def test_m8_a_canceled_wait_is_resumed_by_nothing(house: House) -> None:
    _, space, _ = await asking(house)
    [run] = await house.runs()
    await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
    house.model.script = sequence()
    await house.owner.say(space, "Fine")
    await house.until_idle()
    house.advance(301)
    await house.until_idle()
    canceled, triggered = await house.runs()
    assert (canceled["status"], canceled["wait"], triggered["status"]) == ("canceled", None, "completed")
    assert triggered["trigger"]["text"] == "Fine"
