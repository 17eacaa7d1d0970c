"""Behaviour J1: an agent lists its own runs, stops one, or absorbs one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.model_server import Asked, Reply, Script, call, say, sequence, silent
from tests.runs.house import House, timeline
from tests.world import Person

pytestmark = pytest.mark.usefixtures("standing_clock")


def by_trigger(parts: dict[str, Script]) -> Script:
    return lambda asked: parts[asked.trigger_text](asked) if asked.trigger_text in parts else silent()


async def busy_twice(house: House, first: Script, second: Script) -> tuple[Person, str, Any, Any]:
    """Two runs of one agent, the first waiting until the other starts: agent, space and both runs."""
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout, triggers="mentioned")
    house.model.script = by_trigger({"@Scout first": first, "@Scout second": second})
    await house.owner.say(space, "@Scout first")
    await house.model.until_asked(1)
    await house.owner.say(space, "@Scout second")
    await house.model.until_asked(2)
    one, two = await house.runs(scout)
    return scout, space, one, two


def gated(reply: Reply) -> tuple[Reply, asyncio.Event]:
    reply.gate = asyncio.Event()
    return reply, reply.gate


async def test_j1_get_my_runs_lists_ones_own_runs_newest_first(house: House) -> None:
    scout, other = await house.agent("Scout"), await house.agent("Other")
    space = await house.space("Project Alpha", scout, other)
    await house.owner.say(space, "hello")
    await house.until_idle()
    house.model.script = sequence(call("get_my_runs"), call("get_my_runs", status="completed", limit=1), silent())
    await house.tell(scout, {"order": 7})
    await house.until_idle()
    everything, completed = house.model.asked[-1].results
    hello, told = await house.runs(scout)
    assert [run["runId"] for run in everything["runs"]] == [told["id"], hello["id"]]
    assert [run["status"] for run in everything["runs"]] == ["running", "completed"]
    assert [run.get("thisRun") for run in everything["runs"]] == [True, None]
    assert everything["runs"][1]["trigger"] == hello["trigger"]
    assert everything["runs"][1]["endedAt"] == hello["endedAt"]
    assert [run["runId"] for run in completed["runs"]] == [hello["id"]]


async def test_j1_get_my_runs_tells_what_a_run_waits_for(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(say("Well?", wait=True))
    await house.owner.say(space, "Ask me")
    await house.until_waiting()
    house.model.script = sequence(call("get_my_runs", status="waiting_reply"), silent())
    await house.tell(scout)
    await house.until_idle()
    [waiting] = house.model.asked[-1].results[0]["runs"]
    [run] = [run for run in await house.runs(scout) if run["status"] == "waiting_reply"]
    assert (waiting["runId"], waiting["wait"]) == (run["id"], run["wait"])


async def test_j1_stop_run_cancels_another_run_at_work(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    working, gate = gated(say("too late"))
    house.model.script = sequence(working)
    await house.owner.say(space, "Scout?")
    await house.model.until_asked(1)
    [run] = await house.runs(scout)
    house.model.script = sequence(call("stop_run", runId=run["id"]), silent())
    await house.tell(scout)
    await house.model.until_asked(3)
    await house.model.until_open(0)
    await house.until_idle()
    stopped, stopper = await house.runs(scout)
    assert (stopped["status"], stopped["reason"]) == ("canceled", f"stopped by {stopper['id']}")
    assert house.model.asked[-1].results == [{"success": True, "runId": run["id"], "status": "canceled"}]
    gate.set()
    assert await house.texts(space) == [("Owner", "Scout?")]


async def test_j1_runs_of_others_ended_ones_and_this_one_cannot_be_stopped_or_absorbed(house: House) -> None:
    scout, other = await house.agent("Scout"), await house.agent("Other")
    space = await house.space("Project Alpha", scout, other)
    await house.owner.say(space, "hello")
    await house.until_idle()
    [mine], [foreign] = await house.runs(scout), await house.runs(other)

    def script(asked: Asked) -> Reply:
        own = asked.text.split("ACTIVE RUNS:\n  - Run ")[1].split(" ")[0]
        tool = "stop_run" if asked.step < 3 else "absorb_run"
        return call(tool, runId=[mine["id"], foreign["id"], own][asked.step % 3]) if asked.step < 6 else silent()

    house.model.script = script
    await house.tell(scout)
    await house.until_idle()
    results = house.model.asked[-1].results
    assert [result["success"] for result in results] == [False] * 6
    ended, unknown, this = (result["error"] for result in results[:3])
    assert ended == f"Run {mine['id']} has already ended. There is nothing to stop."
    assert unknown == f"You have no run {foreign['id']}. Call get_my_runs to get the ids of your runs."
    assert this == "This is the run you are in. To end it, stop calling tools."
    assert results[3]["error"] == f"Run {mine['id']} has already ended. There is nothing to absorb."
    assert [result["error"] for result in results[4:]] == [unknown, this]


async def test_j1_absorb_run_takes_over_trigger_actions_and_deliveries(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    memory = {"memories": [{"key": "colour", "value": "blue"}]}
    house.model.script = sequence(call("set_memories", **memory), say("Which shade?", wait=True))
    asked_for = await house.owner.say(space, "Paint the wall")
    await house.until_waiting()
    [waiting] = await house.runs(scout)
    house.model.script = sequence(call("absorb_run", runId=waiting["id"]), silent())
    async with house.owner.follow(space) as follower:
        await house.tell(scout)
        absorbed = await follower.until("run.absorbed", runId=waiting["id"])
    await house.until_idle()
    [result] = house.model.asked[-1].results
    assert (result["success"], result["runId"], result["trigger"]) == (True, waiting["id"], waiting["trigger"])
    assert [(action["tool"], action["input"], action["state"]) for action in result["actions"]] == [
        ("set_memories", memory, "done"),
        ("send_message", {"text": "Which shade?", "wait": True}, "done"),
    ]
    old, new = await house.runs(scout)
    assert (old["status"], old["reason"]) == ("canceled", f"absorbed by {new['id']}")
    assert absorbed.data["absorbedBy"] == new["id"]
    assert new["status"] == "completed"
    [delivery] = await house.owner.ok("GET", f"/api/messages/{asked_for['id']}/deliveries")
    assert (delivery["state"], delivery["runId"]) == ("passed", new["id"])


async def test_j1_the_absorbing_run_settles_the_deliveries_of_the_absorbed_one(house: House) -> None:
    """It answered, so the message counts as answered."""
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(say("Which shade?", wait=True))
    asked_for = await house.owner.say(space, "Paint the wall")
    await house.until_waiting()
    [waiting] = await house.runs(scout)
    house.model.script = sequence(
        call("absorb_run", runId=waiting["id"]), call("enter_space", spaceId=space), say("Light blue it is."), silent()
    )
    await house.tell(scout)
    await house.until_idle()
    assert await house.deliveries(asked_for) == [("Scout", "done")]
    house.advance(301)
    await house.until_idle()
    assert [text for _, text in await house.texts(space)] == ["Paint the wall", "Which shade?", "Light blue it is."]


async def test_j1_a_retry_of_the_absorbing_run_keeps_the_deliveries_of_the_absorbed_one(house: House) -> None:
    """One run continues with both, and sees the trigger of the other in the result of absorb_run."""
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.try_models_once()
    house.model.script = sequence(say("Which shade?", wait=True))
    asked_for = await house.owner.say(space, "Paint the wall")
    await house.until_waiting()
    [waiting] = await house.runs(scout)
    house.model.script = sequence(call("absorb_run", runId=waiting["id"]), Reply(status=500), silent())
    await house.tell(scout, {"order": 7})
    await house.until_idle()
    assert await house.deliveries(asked_for) == [("Scout", "taken")]
    house.advance(1.1)
    await house.model.until_asked(4)
    await house.until_idle()
    absorbed, failed, again = await house.runs(scout)
    assert [absorbed["status"], failed["status"], again["status"]] == ["canceled", "failed", "completed"]
    assert again["trigger"]["payload"] == {"order": 7}
    [line] = [line for line in timeline(house.model.asked[3]) if "called absorb_run" in line]
    assert "Paint the wall" in line
    [delivery] = await house.owner.ok("GET", f"/api/messages/{asked_for['id']}/deliveries")
    assert (delivery["state"], delivery["runId"]) == ("passed", again["id"])


async def test_j1_two_runs_that_absorb_each_other_end_with_one_winner(house: House) -> None:
    ids: dict[str, str] = {}
    both = asyncio.Event()

    async def part(asked: Asked) -> Reply:
        if asked.step:
            return silent()
        await both.wait()
        return call("absorb_run", runId=ids["two" if asked.trigger_text == "@Scout first" else "one"])

    scout, space, one, two = await busy_twice(house, part, part)
    ids |= {"one": one["id"], "two": two["id"]}
    both.set()
    await house.model.until_open(0)
    await house.until_idle()
    runs = {run["id"]: run for run in await house.runs(scout)}
    assert sorted(run["status"] for run in runs.values()) == ["canceled", "completed"]
    [winner] = [run for run in runs.values() if run["status"] == "completed"]
    [loser] = [run for run in runs.values() if run["status"] == "canceled"]
    assert loser["reason"] == f"absorbed by {winner['id']}"
    # Both messages are settled by the winner.
    for message in (await house.owner.history(space))["messages"]:
        [delivery] = await house.owner.ok("GET", f"/api/messages/{message['id']}/deliveries")
        assert (delivery["runId"], delivery["state"]) == (winner["id"], "passed")


async def test_j1_an_absorbed_run_at_work_sends_nothing_more(house: House) -> None:
    first, first_gate = gated(say("said too late"))
    second: list[Reply] = []

    async def absorbing(asked: Asked) -> Reply:
        await ready.wait()
        return second.pop() if second else silent()

    ready = asyncio.Event()
    scout, space, one, _ = await busy_twice(house, sequence(first), absorbing)
    second.append(call("absorb_run", runId=one["id"]))
    ready.set()
    await house.until_idle()
    first_gate.set()
    await house.model.until_open(0)
    assert [text for _, text in await house.texts(space)] == ["@Scout first", "@Scout second"]
    assert [run["status"] for run in await house.runs(scout)] == ["canceled", "completed"]
    [result] = house.model.asked[-1].results
    assert (result["trigger"]["text"], result["actions"]) == ("@Scout first", [])
