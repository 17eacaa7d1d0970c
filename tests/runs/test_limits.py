"""J6: a run that reaches a limit ends as completed and says so. T8: the limit of concurrent runs."""

from __future__ import annotations

import asyncio
from typing import Any

from majlis.entities.caller import Caller
from majlis.inbox.deliver import post_message
from majlis.settings import Settings
from majlis.spaces.post import Draft
from majlis.store.transactions import Tx
from tests.model_server import Asked, Reply, by_agent, call, say, sequence, silent
from tests.runs.house import House, block, open_house


async def limited(house: House, script: Any, **limits: int) -> tuple[str, Any]:
    scout = await house.agent("Scout", limits=limits)
    space = await house.space("Project Alpha", scout)
    house.model.script = script
    message = await house.owner.say(space, "Scout?")
    await house.until_idle()
    return space, message


async def test_j6_steps(house: House) -> None:
    space, message = await limited(house, lambda asked: say(f"step {asked.step}"), steps=3)
    [run] = await house.runs()
    assert (run["status"], run["reason"], run["error"]) == ("completed", "limit", None)
    assert run["usage"]["requests"] == len(house.model.asked) == 3
    assert [text for _, text in await house.texts(space)] == ["Scout?", "step 0", "step 1", "step 2"]
    assert await house.deliveries(message) == [("Scout", "done")]
    assert run["notes"] == ["The run reached its limit of 3 requests to the model (limits.steps)."]


async def test_j6_tokens(house: House) -> None:
    """Each request uses 100 in and 10 out: the second response exceeds the limit, so there is no third request."""
    await limited(house, lambda asked: call("get_memories"), tokensPerRun=150)
    [run] = await house.runs()
    assert (run["status"], run["reason"]) == ("completed", "limit")
    assert run["usage"] == {"requests": 2, "inputTokens": 200, "cachedTokens": 0, "outputTokens": 20}
    assert len(house.model.asked) == 2
    assert run["notes"] == ["The run reached its limit of 150 tokens (limits.tokensPerRun)."]


async def test_j6_steps_and_tokens_are_counted_across_waits(house: House) -> None:
    scout = await house.agent("Scout", limits={"steps": 2})
    space = await house.space("Project Alpha", scout)
    house.model.script = lambda asked: say("Well?", wait=True)
    await house.owner.say(space, "Ask me")
    for answer in ("one", "two"):
        await house.until_waiting()
        await house.owner.say(space, answer)
        await house.model.until_asked(2)
    await house.until_idle()
    [run] = await house.runs()
    assert (run["status"], run["reason"], len(house.model.asked)) == ("completed", "limit", 2)


async def test_j6_seconds_of_work_and_not_of_waiting(house: House) -> None:
    scout = await house.agent("Scout", limits={"runSeconds": 60})
    space = await house.space("Project Alpha", scout)
    first = say("Well?", wait=True)
    first.gate = asyncio.Event()
    second = say("And?", wait=True)
    second.gate = asyncio.Event()
    house.model.script = sequence(first, second, say("never said"))
    await house.owner.say(space, "Ask me")
    await house.model.until_asked(1)
    house.advance(20)
    first.gate.set()
    await house.until_waiting()
    # Two minutes of waiting do not count.
    house.advance(120)
    await house.owner.say(space, "one")
    await house.model.until_asked(2)
    [run] = await house.runs()
    assert run["status"] == "running"
    house.advance(25)
    second.gate.set()
    await house.until_waiting()
    await house.owner.say(space, "two")
    await house.model.until_asked(3)
    await house.until_idle()
    assert (await house.texts(space))[-1] == ("Scout", "never said")


async def test_j6_a_run_whose_time_is_over_makes_no_further_request(house: House) -> None:
    scout = await house.agent("Scout", limits={"runSeconds": 10})
    space = await house.space("Project Alpha", scout)
    slow = say("Well?", wait=True)
    slow.gate = asyncio.Event()
    house.model.script = sequence(slow, say("never said"))
    await house.owner.say(space, "Ask me")
    await house.model.until_asked(1)
    house.advance(11)
    slow.gate.set()
    await house.until_waiting()
    await house.owner.say(space, "answer")
    await house.until_idle()
    [run] = await house.runs()
    assert (run["status"], run["reason"]) == ("completed", "limit")
    assert run["notes"] == ["The run reached its limit of 10 seconds (limits.runSeconds)."]
    assert ("Scout", "never said") not in await house.texts(space)


async def test_j6_time_that_runs_out_in_the_middle_of_a_sentence_takes_it_back(house: House) -> None:
    scout = await house.agent("Scout", limits={"runSeconds": 10})
    space = await house.space("Project Alpha", scout)
    slow, stuck = say("Well?", wait=True), say("This will never be said to its end.")
    slow.gate, stuck.gate_mid = asyncio.Event(), asyncio.Event()
    house.model.script = sequence(slow, stuck)
    await house.owner.say(space, "Ask me")
    await house.model.until_asked(1)
    # Two seconds are left; a busy machine may need some of them to start.
    house.advance(8)
    slow.gate.set()
    await house.until_waiting()
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "answer")
        start = await follower.until("tool-call.start")
        await follower.until("tool-call.error", streamId=start.data["streamId"])
        completed = await follower.until("run.completed")
        assert completed.data["reason"] == "limit"
    await house.model.until_open(0)
    assert [text for _, text in await house.texts(space)] == ["Ask me", "Well?", "answer"]


async def test_t8_two_messages_run_at_the_same_time_and_each_lists_the_other(house: House) -> None:
    scout, space = await agent_in_space(house)
    ready: list[Asked] = []
    both = asyncio.Event()

    async def script(asked: Asked) -> Reply:
        ready.append(asked)
        if len(ready) == 2:
            both.set()
        await both.wait()
        return silent()

    house.model.script = script
    await say_together(house, space, ["one", "two"])
    await house.until_idle()
    one, two = await house.runs(scout)
    other = {"one": two["id"], "two": one["id"]}
    for asked in ready:
        assert block(asked, "ACTIVE RUNS")[1:] == [
            f'- Run {other[asked.trigger_text]} — running, triggered by Owner in "Project Alpha"'
        ]


async def test_t8_eight_messages_and_a_limit_of_three(house: House) -> None:
    """At most three requests are open; the rest are queued, and none is dropped."""
    _, space = await agent_in_space(house, limits={"concurrentRuns": 3})
    gates: list[asyncio.Event] = []
    most = 0

    async def script(asked: Asked) -> Reply:
        nonlocal most
        gates.append(asyncio.Event())
        most = max(most, house.model.open_requests)
        await gates[asked.n].wait()
        return silent()

    house.model.script = script
    messages = await say_together(house, space, [f"message {n}" for n in range(8)])
    await house.model.until_asked(3)
    for n in range(8):
        await house.model.until_asked(n + 1)
        inbox = await house.owner.ok("GET", f"/api/agents/{(await house.runs())[0]['agentId']}/inbox")
        assert len([each for each in inbox if each["state"] == "taken"]) <= 3
        gates[n].set()
    await house.until_idle()
    assert most == 3
    assert len(house.model.asked) == 8
    covered = {run["trigger"]["messageId"] for run in await house.runs() if run["status"] == "completed"}
    assert covered == set(messages)
    # The first three were claimed together: each lists the two others.
    for asked in house.model.asked[:3]:
        assert len(block(asked, "ACTIVE RUNS")) == 3
    for asked in house.model.asked[3:]:
        assert len(block(asked, "ACTIVE RUNS")) <= 3


async def test_t8_an_agent_at_its_limit_does_not_block_others(house: House) -> None:
    busy, other = await house.agent("Busy", limits={"concurrentRuns": 1}), await house.agent("Other")
    first, second = await house.space("First", busy), await house.space("Second", other)
    blocking = silent()
    blocking.gate = asyncio.Event()
    house.model.script = by_agent({"Busy": [blocking], "Other": [say("At your service.")]})
    for n in range(5):
        await house.owner.say(first, f"message {n}")
    await house.model.until_asked(1)
    async with house.owner.follow(second) as follower:
        await house.owner.say(second, "Other?")
        await follower.until_message("At your service.")
    blocking.gate.set()
    await house.until_idle()
    assert len(await house.runs(busy)) == 5


async def test_t8_an_answered_run_of_an_agent_at_its_limit_holds_up_no_other_answered_run(settings: Settings) -> None:
    """With one free slot, a run that cannot continue yet must not hide one that can."""
    async with open_house(settings.model_copy(update={"workers": 2})) as house:
        busy, other = await house.agent("Busy", limits={"concurrentRuns": 1}), await house.agent("Other")
        first, second, third = [
            await house.space(name, agent) for name, agent in zip("ABC", (busy, other, busy), strict=True)
        ]
        stuck = silent()
        stuck.gate = asyncio.Event()

        def script(asked: Asked) -> Reply:
            if asked.trigger_text == "Keep busy":
                return stuck
            return silent() if "RESUME" in asked.text else say("Well?", wait=True)

        house.model.script = script
        for n, space in enumerate((first, second), 1):
            await house.owner.say(space, "Ask me")
            await house.until_waiting(n)
        await house.owner.say(third, "Keep busy")
        await house.model.until_asked(3)
        for space in (first, second):
            await house.owner.say(space, "Fine")
        await house.model.until_asked(4)
        assert house.model.asked[3].agent == "Other"
        stuck.gate.set()
        await house.until_idle()
        assert {run["status"] for run in await house.runs()} == {"completed"}


async def agent_in_space(house: House, **config: Any) -> tuple[Any, str]:
    scout = await house.agent("Scout", **config)
    return scout, await house.space("Project Alpha", scout)


async def say_together(house: House, space: str, texts: list[str]) -> list[str]:
    """In one transaction, so that all become due at the same time. Returns their ids."""
    owner = Caller(house.owner.id, "Owner", "human", "owner", "tok_y")

    def post(tx: Tx) -> list[str]:
        return [post_message(tx, owner, space, Draft(text))["id"] for text in texts]

    return await house.world.gateway.db.write(post)
