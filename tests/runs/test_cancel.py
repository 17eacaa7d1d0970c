"""J3: a canceled run stops at once and sends nothing more. L7: a person's stop keeps what was written."""

from __future__ import annotations

import asyncio

import pytest

from majlis.store.tables import runs, spaces
from tests.conditions import until
from tests.follower import Event
from tests.model_server import Reply, by_agent, call, say, sequence, silent
from tests.runs.house import House


def gated(reply: Reply) -> Reply:
    reply.gate_mid = asyncio.Event()
    return reply


@pytest.mark.usefixtures("wake_ups_only")
async def test_l7_a_persons_stop_keeps_what_was_written(house: House) -> None:
    scout, other = await house.agent("Scout"), await house.agent("Other")
    space = await house.space("Project Alpha", scout, other, triggers="mentioned")
    reply = gated(say("@Other What I am saying here will never be said to its end."))
    house.model.script = sequence(reply)
    async with house.owner.follow(space) as follower:
        message = await house.owner.say(space, "@Scout?")
        delta = await follower.until("tool-input-delta")
        [run] = await house.runs()
        canceled = await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
        await house.model.until_open(0)
        kept = await follower.until("space.message", streamId=delta.data["streamId"])
        await follower.until("tool-call.complete")
        await house.owner.say(space, "end of test")
        await follower.until_message("end of test")
    assert (canceled["status"], canceled["reason"], canceled["wait"]) == ("canceled", "canceled by Owner", None)
    assert canceled["endedAt"]
    by_type = {event.type: event for event in follower.seen}
    assert by_type["run.canceled"].data["runId"] == run["id"]
    assert "tool-call.error" not in by_type
    assert inactive(follower.seen, run["id"])
    await house.until_idle()
    [_, stored, _] = (await house.owner.history(space))["messages"]
    assert stored == kept.data["message"]
    assert stored["stoppedBy"] == {"id": house.owner.id, "name": "Owner"}
    assert reply.calls[0][1]["text"].startswith(stored["text"])
    assert len(stored["text"]) >= len(delta.data["textDelta"])
    # It wakes no agent, although it begins with a mention.
    assert await house.deliveries(stored) == []
    assert await house.deliveries(message) == [("Scout", "passed")]
    assert [each["status"] for each in await house.runs()] == ["canceled"]
    # Everyone sees that it is unfinished.
    house.model.script = sequence(silent(), silent())
    await house.owner.say(space, "@Scout @Other go on")
    await house.until_idle()
    for name in ("Scout", "Other"):
        assert '" (unfinished: stopped by Owner)' in house.invocations(name)[-1].text


async def test_l7_words_that_may_not_be_posted_are_discarded(house: House) -> None:
    """The space is paused in the moment of the stop; the run ends all the same."""
    space = await house.space("Project Alpha", await house.agent("Scout"))
    house.model.script = sequence(gated(say("What I am saying here will never be said to its end.")))
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Scout?")
        await follower.until("tool-input-delta")
        [run] = await house.runs()
        await house.world.gateway.db.write(
            lambda tx: tx.execute(spaces.update().where(spaces.c.id == space).values(paused_at=1))
        )
        canceled = await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
        await follower.until("tool-call.error")
    assert canceled["status"] == "canceled"
    assert await house.texts(space) == [("Owner", "Scout?")]


async def test_l7_without_its_worker_the_run_is_canceled_without_text(house: House) -> None:
    """The worker does not get the request in time, as if it were on another machine that hangs."""
    space = await house.space("Project Alpha", await house.agent("Scout"))
    house.model.script = sequence(gated(say("What I am saying here will never be said to its end.")))
    worker = house.world.gateway.worker
    assert worker is not None
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Scout?")
        await follower.until("tool-input-delta")
        [run] = await house.runs()
        await house.world.gateway.db.write(
            lambda tx: tx.execute(runs.update().where(runs.c.id == run["id"]).values(fence=runs.c.fence + 1))
        )
        canceled = await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
        await follower.until("tool-call.error")
    assert canceled["status"] == "canceled"
    assert await house.texts(space) == [("Owner", "Scout?")]


async def test_l7_an_agents_own_cancel_discards_the_unfinished_text(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(gated(say("What I am saying here will never be said to its end.")))
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Scout?")
        delta = await follower.until("tool-input-delta")
        [run] = await house.runs()
        await scout.ok("POST", f"/api/runs/{run['id']}/cancel")
        error = await follower.until("tool-call.error")
    assert error.data["streamId"] == delta.data["streamId"]
    assert await house.texts(space) == [("Owner", "Scout?")]


async def test_l7_the_text_of_an_agent_that_speaks_by_text_is_kept_too(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout", speak="text"))
    reply = silent("These words were written and stay.")
    house.model.script = sequence(gated(reply))
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Scout?")
        await follower.until("tool-input-delta")
        [run] = await house.runs()
        await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
    [_, stored] = (await house.owner.history(space))["messages"]
    assert "These words were written and stay.".startswith(stored["text"])
    assert stored["stoppedBy"]["name"] == "Owner"


async def test_j3_a_run_is_canceled_once(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(gated(say("never said")))
    await house.owner.say(space, "Scout?")
    await house.model.until_asked(1)
    [run] = await house.runs()
    answers = await asyncio.gather(*(house.owner.post(f"/api/runs/{run['id']}/cancel") for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409]
    [refused] = {answer.json()["error"]["code"] for answer in answers if answer.status_code == 409}
    assert refused == "run_ended"


async def test_j3_a_run_that_has_ended_cannot_be_canceled(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    await house.owner.say(space, "hello")
    await house.until_idle()
    [run] = await house.runs()
    assert (await house.owner.post(f"/api/runs/{run['id']}/cancel")).status_code == 409
    assert (await house.run(run["id"]))["status"] == "completed"


async def test_j3_nothing_is_sent_after_a_cancel_between_answer_and_call(house: House) -> None:
    """The model's response is complete when the cancel comes: its call is not made."""
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)

    async def cancel_first(asked: object) -> Reply:
        [run] = await house.runs()
        await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
        return say("too late")

    house.model.script = sequence(cancel_first)
    await house.owner.say(space, "Scout?")
    await house.model.until_asked(1)
    await house.model.until_open(0)
    await house.until_idle()
    assert await house.texts(space) == [("Owner", "Scout?")]
    [run] = await house.runs()
    assert run["status"] == "canceled"
    assert len(house.model.asked) == 1


async def test_j3_messages_sent_before_the_cancel_stay(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    house.model.script = sequence(say("sent"), gated(say("not sent")))
    message = await house.owner.say(space, "Scout?")
    await house.model.until_asked(2)
    [run] = await house.runs()
    await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
    await house.model.until_open(0)
    assert await house.texts(space) == [("Owner", "Scout?"), ("Scout", "sent")]
    steps = await house.owner.ok("GET", f"/api/runs/{run['id']}/steps")
    assert [(step["kind"], step["state"]) for step in steps] == [("model", "done"), ("tool", "done")]
    assert await house.deliveries(message) == [("Scout", "passed")]


async def test_j3_a_waiting_run_can_be_canceled(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(say("Well?", wait=True))
    message = await house.owner.say(space, "Ask me")
    await house.until_waiting()
    [run] = await house.runs()
    async with house.owner.follow(space) as follower:
        await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
        await follower.until("run.canceled", runId=run["id"])
    assert await house.deliveries(message) == [("Scout", "passed")]
    house.advance(301)
    await house.until_idle()
    assert [each["status"] for each in await house.runs()] == ["canceled"]
    assert len(house.model.asked) == 1


@pytest.mark.usefixtures("wake_ups_only")
async def test_j3_a_run_that_rests_between_two_tries_is_canceled_at_once(house: House) -> None:
    """The provider asks for half a minute; the cancel does not wait for it."""
    space = await house.space("Project Alpha", await house.agent("Scout"))
    house.model.script = sequence(Reply(status=429, headers={"Retry-After": "30"}), say("never said"))
    await house.owner.say(space, "Scout?")
    await house.model.until_asked(1)
    await house.model.until_open(0)
    [run] = await house.runs()
    await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
    worker = house.world.gateway.worker
    assert worker is not None
    await until(lambda: worker.active == 0)
    assert len(house.model.asked) == 1


async def test_j3_a_queued_run_can_be_canceled(house: House) -> None:
    """It was answered but has no free slot: no worker has it."""
    scout = await house.agent("Scout", limits={"concurrentRuns": 1})
    alpha, beta = await house.space("Project Alpha", scout), await house.space("Project Beta", scout)
    slow = Reply(gate=asyncio.Event())
    house.model.script = sequence(say("Well?", wait=True), slow, say("never said"))
    await house.owner.say(alpha, "Ask me")
    await house.until_waiting()
    await house.owner.say(beta, "Take your time")
    await house.model.until_asked(2)
    answer = await house.owner.say(alpha, "Here is your answer")
    [queued] = await house.runs(status="queued")
    canceled = await house.owner.ok("POST", f"/api/runs/{queued['id']}/cancel")
    assert slow.gate is not None
    slow.gate.set()
    await house.until_idle()
    assert (canceled["status"], len(house.model.asked)) == ("canceled", 2)
    assert await house.deliveries(answer) == [("Scout", "passed")]


async def test_j3_who_may_cancel(house: House) -> None:
    scout = await house.agent("Scout")
    member, viewer, stranger = [await house.person(name) for name in ("Member", "Viewer", "Stranger")]
    space = await house.space("Project Alpha", scout, member)
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": viewer.id, "role": "viewer"})
    house.model.script = sequence(gated(say("never said")))
    await house.owner.say(space, "Scout?")
    await house.model.until_asked(1)
    [run] = await house.runs()
    path = f"/api/runs/{run['id']}/cancel"
    assert (await stranger.post(path)).status_code == 404
    assert (await viewer.post(path)).status_code == 403
    assert (await member.post(path)).json()["reason"] == "canceled by Member"


async def test_j3_the_next_message_is_answered_as_if_nothing_had_happened(house: House) -> None:
    scout = await house.agent("Scout", limits={"concurrentRuns": 1})
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(gated(say("never said")), say("Yes?"))
    await house.owner.say(space, "first")
    await house.model.until_asked(1)
    [run] = await house.runs()
    await house.owner.say(space, "second")
    await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
    await house.model.until_asked(2)
    await house.until_idle()
    assert [text for _, text in await house.texts(space)] == ["first", "second", "Yes?"]


async def test_j3_a_member_of_a_space_where_the_run_is_active_sees_it_go(house: House) -> None:
    scout = await house.agent("Scout")
    alpha, beta = await house.space("Alpha", scout), await house.space("Beta", scout)
    house.model.script = by_agent({"Scout": [call("enter_space", spaceId=beta), gated(say("never said"))]})
    async with house.owner.follow(beta) as follower:
        await house.owner.say(alpha, "go to Beta")
        active = await follower.until("agent.active")
        await follower.until("tool-call.start")
        await house.owner.ok("POST", f"/api/runs/{active.data['runId']}/cancel")
        await follower.until("agent.inactive", runId=active.data["runId"])
        await follower.until("tool-call.error")
    assert await house.texts(beta) == []


def inactive(events: list[Event], run_id: str) -> bool:
    return any(event.type == "agent.inactive" and event.data["runId"] == run_id for event in events)
