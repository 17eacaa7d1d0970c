"""D2, O4: a message that carries the lease of an event has its cause, its depth and its person. It can wait."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conditions import until
from tests.outside.program import LEASE_SECONDS, Program, outside, refused
from tests.runs.house import House, says

pytestmark = pytest.mark.usefixtures("standing_clock")


async def test_o4_a_message_with_a_lease_inherits_cause_and_depth_and_one_without_does_not(house: House) -> None:
    first, second = await outside(house, "First"), await outside(house, "Second")
    space = await house.space("Project Alpha", first.agent, second.agent, triggers="mentioned")
    await house.owner.ok("PATCH", f"/api/spaces/{space}", {"gatherMillis": 0})
    sara = await house.person("Sara")
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": sara.id})
    await sara.say(space, "@First hello", mentions=[first.id])
    event = await first.take()
    cause = (await house.run(event["runId"]))["causeId"]
    sent = await first.send(event, space, "@Second over to you", mentions=[second.id])
    assert (sent["chainDepth"], sent["runId"]) == (1, event["runId"])
    with_lease = await second.take()
    assert with_lease["trigger"]["chainDepth"] == 1
    run = await house.run(with_lease["runId"])
    assert (run["causeId"], run["person"]["id"]) == (cause, sara.id)
    await second.settle(with_lease)
    await first.settle(event)
    await first.agent.say(space, "@Second something else", mentions=[second.id])
    without = await house.run((await second.take())["runId"])
    assert without["causeId"] != cause
    assert without["person"]["id"] == first.id


async def test_d2_outside_agents_cannot_talk_to_each_other_for_ever(house: House) -> None:
    """The chain's depth ends it, as it does between other agents (T6)."""
    ping, pong = await outside(house, "Ping"), await outside(house, "Pong")
    space = await house.space("Project Alpha", ping.agent, pong.agent, triggers="mentioned")
    await house.owner.ok("PATCH", f"/api/spaces/{space}", {"maxChainDepth": 3, "gatherMillis": 0})
    await house.owner.say(space, "@Ping start", mentions=[ping.id])
    turns = 0
    programs = [ping, pong]
    while True:
        taken = [(program, event) for program in programs for event in await program.take_all(max=20)]
        if not taken:
            break
        for program, event in taken:
            turns += 1
            other = pong if program is ping else ping
            await program.send(event, space, f"@{other.agent.name} next", mentions=[other.id])
            await program.settle(event)
        assert turns < 20
    assert turns == 3
    page = await house.owner.history(space)
    assert max(message["chainDepth"] for message in page["messages"]) <= 4


async def test_d2_a_program_sends_into_every_space_of_its_agent_and_no_other(house: House) -> None:
    scout = await outside(house)
    here = await house.space("Here", scout.agent)
    there = await house.space("There", scout.agent)
    secret = await house.space("Secret")
    await house.owner.say(here, "hello")
    event = await scout.take()
    await scout.send(event, there, "Elsewhere.")
    assert (await scout.try_send(event, secret, "Nowhere.")).status_code in (403, 404)
    assert await house.texts(secret) == []
    # The event is still that of the first space.
    house.advance(LEASE_SECONDS + 1)
    again = await scout.take()
    assert "hello" in again["context"]
    await scout.settle(again)


async def test_d2_a_removed_member_cannot_send_but_can_settle(house: House) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    asked = await house.owner.say(space, "hello")
    event = await scout.take()
    await house.remove(space, scout.agent)
    response = await scout.try_send(event, space, "Hi.")
    assert response.status_code in (403, 404, 409), response.text
    assert [name for name, _ in await house.texts(space)] == ["Owner"]
    settled = await scout.try_settle(event, "passed")
    assert settled.status_code in (200, 409)
    await until(lambda: _is_over(house, asked))
    house.advance(LEASE_SECONDS + 1)
    assert await scout.take_all() == []


async def test_d2_events_of_a_space_that_the_agent_left_are_not_offered(house: House) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    await house.owner.say(space, "hello")
    await house.remove(space, scout.agent)
    assert await scout.take_all() == []


async def test_d2_the_answer_to_a_question_is_the_next_event(house: House) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    asked = await house.owner.say(space, "hello")
    first = await scout.take()
    question = await scout.send(first, space, "Which one?", wait=True)
    assert (await house.run(first["runId"]))["status"] == "waiting_reply"
    # While the run waits, no program holds the event.
    assert refused(await scout.try_settle(first), 409, "lease_ended")
    assert refused(await scout.try_send(first, space, "Hurry."), 409, "lease_ended")
    house.advance(LEASE_SECONDS + 1)
    assert await scout.take_all() == []
    [wait] = (await house.owner.ok("GET", "/api/waits"))["waits"]
    assert wait["messageId"] == question["id"]
    answer = await house.owner.say(space, "The blue one.")
    second = await scout.take()
    assert second["runId"] == first["runId"]
    assert second["trigger"]["messageId"] == answer["id"]
    assert second["outcome"]["status"] == "replied"
    assert "← RESUME" in second["context"]
    await scout.send(second, space, "Blue it is.")
    await scout.settle(second)
    assert await house.deliveries(asked) == await house.deliveries(answer) == [("Scout", "done")]


async def test_d2_a_crash_after_the_answer_offers_the_answer_again(house: House) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    await house.owner.say(space, "hello")
    first = await scout.take()
    await scout.send(first, space, "Which one?", wait=True, clientId="ask")
    answer = await house.owner.say(space, "The blue one.")
    second = await scout.take()
    house.advance(LEASE_SECONDS + 1)
    third = await scout.take()
    assert (third["id"], third["runId"]) == (second["id"], second["runId"])
    assert third["trigger"]["messageId"] == answer["id"]
    assert third["outcome"]["status"] == "replied"
    await scout.settle(third)
    assert [text for _, text in await house.texts(space)].count("Which one?") == 1


async def test_d2_an_answer_counts_where_agents_need_a_mention(house: House) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent, triggers="mentioned")
    await house.owner.say(space, "@Scout hello", mentions=[scout.id])
    first = await scout.take()
    await scout.send(first, space, "Which one?", wait=True)
    answer = await house.owner.say(space, "The blue one.")
    second = await scout.take()
    assert second["trigger"]["messageId"] == answer["id"]
    await scout.settle(second)


async def test_d2_a_wait_that_times_out_is_an_event(house: House) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    asked = await house.owner.say(space, "hello")
    first = await scout.take()
    await scout.send(first, space, "Which one?", wait={"within": "10 minutes"})
    house.advance(601)
    second = await scout.take()
    assert second["outcome"]["status"] == "timeout"
    assert second["trigger"]["messageId"] == asked["id"]
    await scout.settle(second, "passed")


async def test_d2_w1_a_program_waits_for_several_members(house: House) -> None:
    scout = await outside(house)
    sara, ann = await house.person("Sara"), await house.person("Ann")
    space = await house.space("Project Alpha", scout.agent, sara, ann)
    await house.owner.say(space, "hello")
    first = await scout.take()
    await scout.send(first, space, "Vote!", wait={"from": ["Sara", ann.id], "need": "all"})
    await sara.say(space, "yes")
    assert await scout.take_all() == []
    last = await ann.say(space, "no")
    second = await scout.take()
    assert second["trigger"]["messageId"] == last["id"]
    assert "2 of 2 answered" in second["context"]
    await scout.settle(second)


@pytest.mark.parametrize(
    ("more", "status", "code"),
    [
        ({"wait": {"from": ["Nobody"]}}, 422, None),
        ({"wait": {"need": "all"}}, 422, None),
        ({"wait": {"within": "9 years"}}, 422, None),
        ({"wait": {"within": "x" * 1000}}, 422, "invalid_request"),
        ({"wait": "yes"}, 422, "invalid_request"),
        ({"mentions": ["Nobody"]}, 422, None),
        ({"replyTo": "msg_0123456789abcdef"}, None, None),
        ({"sessionId": "s"}, 422, "session_with_inbox"),
        ({"inbox": {"id": "del_1"}}, 422, "invalid_request"),
        ({"inbox": {"id": "del_1", "lease": "x" * 1000}}, 422, "invalid_request"),
    ],
)
async def test_d2_a_bad_message_is_refused_and_the_event_is_still_held(
    house: House, more: Any, status: int | None, code: str | None
) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    await house.owner.say(space, "hello")
    event = await scout.take()
    response = await scout.try_send(event, space, "Hi.", **more)
    assert 400 <= response.status_code < 500, response.text
    assert status is None or response.status_code == status, response.text
    assert code is None or response.json()["error"]["code"] == code
    assert len(await house.texts(space)) == 1
    await scout.settle(event)


async def test_d2_waits_need_an_event_and_a_config_that_allows_them(house: House) -> None:
    scout = await outside(house, waits=False)
    space = await house.space("Project Alpha", scout.agent)
    await house.owner.say(space, "hello")
    event = await scout.take()
    assert refused(await scout.try_send(event, space, "Which one?", wait=True), 422, "waits_off")
    path = f"/api/spaces/{space}/messages"
    response = await scout.agent.post(path, {"text": "Which one?", "wait": True})
    assert refused(response, 422, "wait_without_inbox")
    await scout.settle(event)


async def test_d2_only_the_agent_itself_with_its_own_lease(house: House) -> None:
    """Another agent's token, a person's, a lease that was made up: nothing changes, and nothing is said about it."""
    scout, spy = await outside(house), await outside(house, "Spy")
    inside = await house.agent("Inside")
    space = await house.space("Project Alpha", scout.agent, spy.agent, inside, triggers="mentioned")
    await house.owner.say(space, "@Scout hello", mentions=[scout.id])
    event = await scout.take()
    for other in (spy, Program(inside), Program(house.owner)):
        assert refused(await other.try_renew(event), 409, "lease_ended")
        assert refused(await other.try_settle(event), 409, "lease_ended")
        assert refused(await other.try_send(event, space, "Hi."), 409, "lease_ended")
    for lease in ("outside.", "x", "outside.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"):
        forged = {**event, "lease": lease}
        assert refused(await scout.try_renew(forged), 409, "lease_ended")
        assert refused(await scout.try_settle(forged), 409, "lease_ended")
        assert refused(await scout.try_send(forged, space, "Hi."), 409, "lease_ended")
    for other in (Program(inside), Program(house.owner)):
        assert refused(await other.agent.post("/api/inbox/take", {}), 403, "not_outside")
    assert await spy.take_all() == []
    reader = Program(await house.world.with_token(scout.id, "Scout", scopes=["read"]))
    assert (await reader.agent.post("/api/inbox/take", {})).status_code == 403
    await scout.settle(event)
    assert [name for name, _ in await house.texts(space)] == ["Owner"]


async def test_d2_a_revoked_token_ends_a_poll(house: House) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    await house.owner.ok("DELETE", f"/api/entities/{scout.id}/access")
    await house.owner.say(space, "hello")
    assert (await scout.agent.post("/api/inbox/take", {})).status_code == 401


@pytest.mark.parametrize(
    "body", [{"max": 0}, {"max": 21}, {"waitSeconds": -1}, {"waitSeconds": 31}, {"max": "many"}, {"more": 1}, []]
)
async def test_d2_a_bad_take_is_refused(house: House, body: Any) -> None:
    scout = await outside(house)
    assert (await scout.agent.post("/api/inbox/take", body)).status_code in (400, 422)


async def test_d2_an_outside_agent_and_a_timeline_agent_work_together(house: House) -> None:
    scout = await outside(house)
    helper = await house.agent("Helper")
    space = await house.space("Project Alpha", scout.agent, helper, triggers="mentioned")
    await house.owner.ok("PATCH", f"/api/spaces/{space}", {"gatherMillis": 0})
    house.model.script = says("It is 42.")
    await house.owner.say(space, "@Scout ask Helper", mentions=[scout.id])
    event = await scout.take()
    await scout.send(event, space, "@Helper what is it?", wait={"from": ["Helper"]})
    answered = await scout.take()
    assert answered["trigger"]["text"] == "It is 42."
    assert answered["runId"] == event["runId"]
    await scout.settle(answered)


async def test_d2_e5_an_event_over_budget_is_parked(house: House) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    await house.owner.ok("PUT", "/api/budgets", {"budgets": [{"scope": "agent", "id": scout.id, "tokens": 0}]})
    await house.owner.say(space, "hello")
    assert await scout.take_all() == []
    [run] = await house.runs(scout.agent)
    assert (run["status"], run["reason"]) == ("queued", "budget")
    await house.owner.ok("PUT", "/api/budgets", {"budgets": []})
    event = await scout.take()
    assert event["runId"] == run["id"]
    await scout.settle(event)


async def _is_over(house: House, message: Any) -> bool:
    return all(state in ("done", "passed", "failed") for _, state in await house.deliveries(message))
