"""E1–E3: agents' messages gather, so that one run handles what many agents say."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest

from majlis.runs.claim.gathered import Group, joint_trigger
from majlis.settings import Settings
from tests.conditions import until
from tests.model_server import Asked, ModelServer, Reply, by_agent, call, say, silent
from tests.runs import deploy_tools
from tests.runs.house import House
from tests.world import serve_world


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"tool_modules": [deploy_tools.HERE]})


def answer_once(asked: Asked) -> Reply:
    """Each agent answers the person, and stays silent after that."""
    return say(f"Hello from {asked.agent}") if asked.step == 0 and asked.trigger_text == "Hello everyone" else silent()


async def greet(house: House, count: int, **space: Any) -> str:
    agents = [await house.agent(f"Agent {n}") for n in range(count)]
    place = await house.space("Project Alpha", *agents)
    if space:
        await house.owner.ok("PATCH", f"/api/spaces/{place}", space)
    house.model.script = answer_once
    await house.owner.say(place, "Hello everyone")
    return place


@pytest.mark.parametrize("count", [2, 5, 12])
async def test_e3_one_greeting_among_agents_costs_at_most_two_runs_each(house: House, count: int) -> None:
    space = await greet(house, count)
    await house.until_idle()
    runs = await house.runs()
    assert len(runs) <= 2 * count
    # Each was shown every answer of the others: nothing was lost.
    for message in (await house.owner.history(space))["messages"][1:]:
        assert {state for _, state in await house.deliveries(message)} <= {"done", "passed"}
        assert len(await house.deliveries(message)) == count - 1
    later = [run for run in runs if "events" in run["trigger"]]
    newest = [(run["trigger"]["messageId"], run["trigger"]["events"][-1]["messageId"]) for run in later]
    assert all(trigger == last for trigger, last in newest)


async def test_e3_slow_models_gather_too(house: House) -> None:
    """Models that take 2 to 12 seconds: the answers arrive one by one, and no run starts between them."""
    gates = {f"Agent {n}": asyncio.Event() for n in range(5)}

    async def slow(asked: Asked) -> Reply:
        if asked.trigger_text == "Hello everyone" and asked.step == 0:
            await gates[asked.agent].wait()
        return answer_once(asked)

    agents = [await house.agent(name) for name in gates]
    space = await house.space("Project Alpha", *agents)
    # So that a busy machine does not reach the cap.
    await house.owner.ok("PATCH", f"/api/spaces/{space}", {"gatherMillis": 60_000})
    house.model.script = slow
    await house.owner.say(space, "Hello everyone")
    await house.model.until_asked(5)
    for spoken, gate in enumerate(gates.values(), 1):
        house.advance(2)
        gate.set()
        await until(partial(_spoken, house, space, spoken))
        if spoken < 5:
            assert len(await house.runs()) == 5
    await house.until_idle()
    # The last one was held until it had read what the others said (E8).
    assert Counter(run["agentName"] for run in await house.runs()) == {**dict.fromkeys(gates, 2), "Agent 4": 1}


async def _spoken(house: House, space: str, count: int) -> bool:
    page = await house.owner.history(space)
    ended = [run for run in await house.runs() if run["status"] == "completed"]
    return page["total"] == count + 1 and len(ended) >= count


async def test_e1_gather_millis_zero_delivers_at_once(house: House) -> None:
    await greet(house, 3, gatherMillis=0)
    await house.until_idle()
    assert len(await house.runs()) == 9
    assert not [run for run in await house.runs() if "events" in run["trigger"]]


async def test_e1_a_message_of_a_person_is_never_delayed(house: House) -> None:
    """It has a run of its own, which takes the gathering messages along."""
    slow, fast = await house.agent("Slow"), await house.agent("Fast")
    space = await house.space("Project Alpha", slow, fast)
    gate = asyncio.Event()

    async def script(asked: Asked) -> Reply:
        if asked.agent == "Slow" and asked.trigger_text == "Hello":
            await gate.wait()
        return say("Hi.") if asked.agent == "Fast" and asked.trigger_text == "Hello" and asked.step == 0 else silent()

    house.model.script = script
    await house.owner.say(space, "Hello")
    await until(lambda: _spoken(house, space, 1))
    # Slow still composes, so Fast's answer gathers. The person's next message does not.
    again = await house.owner.say(space, "Anyone?")
    await until(lambda: _count(house, slow, 2))
    [_, run] = await house.runs(slow)
    assert (run["trigger"]["messageId"], run["chainDepth"]) == (again["id"], 0)
    assert [event["text"] for event in run["trigger"]["events"]] == ["Hi.", "Anyone?"]
    gate.set()
    await house.until_idle()
    assert len(await house.runs(slow)) == 2


async def _count(house: House, agent: Any, count: int) -> bool:
    return len(await house.runs(agent)) == count


async def test_e1_at_the_latest_after_the_cap_and_sooner_if_addressed(house: House) -> None:
    stuck, fast, idle = [await house.agent(name) for name in ("Stuck", "Fast", "Idle")]
    space = await house.space("Project Alpha", stuck, fast, idle, triggers="mentioned")
    gate = asyncio.Event()

    async def script(asked: Asked) -> Reply:
        if asked.agent == "Stuck":
            await gate.wait()
        if asked.agent == "Fast" and asked.step == 0:
            return say("What do you think?", mentions=["Idle"])
        return silent()

    house.model.script = script
    await house.owner.say(space, "@Stuck @Fast go")
    await until(lambda: _spoken(house, space, 1))
    house.advance(4)
    await asyncio.sleep(0)
    assert not await house.runs(idle)
    house.advance(2)
    await until(lambda: _count(house, idle, 1))
    gate.set()
    await house.until_idle()


async def test_e1_a_long_tool_call_does_not_keep_others_waiting(house: House) -> None:
    """An agent in a call of 60 s, and fast peers: after a moment the peers go on."""
    deploy_tools.release.clear()
    busy = await house.agent("Busy", tools=[deploy_tools.tool("hold")])
    peers = [await house.agent(name, guard=False) for name in ("One", "Two")]
    space = await house.space("Project Alpha", busy, *peers)

    def script(asked: Asked) -> Reply:
        if asked.trigger_text != "Hello" or asked.step:
            return silent()
        return call("hold") if asked.agent == "Busy" else say(f"I am {asked.agent}")

    house.model.script = script
    try:
        await house.owner.say(space, "Hello")
        await until(lambda: _spoken(house, space, 2))
        house.advance(2)
        assert len(await house.runs()) == 3
        house.advance(3)
        for peer in peers:
            await until(partial(_count, house, peer, 2))
        assert (await house.runs(busy))[0]["status"] == "running"
    finally:
        deploy_tools.release.set()
    await house.until_idle()


async def test_e1_an_ask_inside_an_ask_never_waits_for_the_cap(house: House) -> None:
    """Questions and their answers are delivered at once, although others are still composing."""
    agents = [await house.agent(name) for name in ("A", "B", "C", "Stuck")]
    space = await house.space("Project Alpha", *agents, triggers="mentioned")
    gate = asyncio.Event()

    async def script(asked: Asked) -> Reply:
        if asked.agent == "Stuck":
            await gate.wait()
        if asked.step or asked.agent == "Stuck" or (asked.agent == "A" and "RESUME" in asked.text):
            return silent()
        following = {"A": "B", "B": "C"}.get(asked.agent)
        if following is None or "RESUME" in asked.text:
            return say(f"Yes, says {asked.agent}")
        return say(f"Well, {following}?", wait={"from": [following]})

    house.model.script = script
    await house.owner.say(space, "@A go, @Stuck too")
    await until(lambda: _ended(house, "A", "B", "C"))
    texts = [text for _, text in await house.texts(space)][1:]
    assert texts == ["Well, B?", "Well, C?", "Yes, says C", "Yes, says B"]
    gate.set()
    await house.until_idle()


async def _ended(house: House, *names: str) -> bool:
    runs = {run["agentName"]: run["status"] for run in await house.runs()}
    return all(runs.get(name) == "completed" for name in names)


async def test_e2_two_people_two_questions_three_agents_both_are_answered(house: House) -> None:
    agents = [await house.agent(name) for name in ("A", "B", "C")]
    sara = await house.person("Sara")
    space = await house.space("Project Alpha", *agents, sara)

    def script(asked: Asked) -> Reply:
        about = {"Red?": "Red.", "Blue?": "Blue."}.get(asked.trigger_text)
        return say(about) if about and asked.step == 0 else silent()

    house.model.script = script
    await asyncio.gather(house.owner.say(space, "Red?"), sara.say(space, "Blue?"))
    await house.until_idle()
    said = Counter(await house.texts(space))
    assert all(said[name, text] == 1 for name in "ABC" for text in ("Red.", "Blue."))


async def test_e1_gathering_survives_the_death_of_the_process(settings: Settings) -> None:
    async with ModelServer() as model:
        model.script = by_agent({"A": [say("One")], "B": [say("Two")]})
        async with serve_world(settings) as world:
            house = House(world, model)
            a, b = await house.agent("A", guard=False), await house.agent("B", guard=False)
            space = await house.space("Project Alpha", a, b)
            await house.owner.say(space, "Hello")
            await until(lambda: _spoken(house, space, 2))
        # Stopped while the two messages were gathering.
        async with serve_world(settings) as world:
            house = House(world, model)
            await house.until_idle()
            assert Counter(run["agentName"] for run in await house.runs()) == {"A": 2, "B": 2}


async def test_e2_a_wait_inside_a_gathering_run(house: House) -> None:
    """The run pauses, which releases what it held up, and resumes with the answer."""
    a, b, c = [await house.agent(name) for name in ("A", "B", "C")]
    space = await house.space("Project Alpha", a, b, c)

    def script(asked: Asked) -> Reply:
        if asked.agent != "C" and asked.trigger_text == "Hello":
            return say(f"I am {asked.agent}") if asked.step == 0 else silent()
        if asked.agent == "C" and asked.step == 0 and "I am" in asked.trigger_text and "RESUME" not in asked.text:
            return say("Which one?", wait={"from": ["Owner"]})
        return silent()

    house.model.script = script
    await house.owner.say(space, "Hello")
    await house.until_waiting()
    await house.until_idle()
    waiting = [run for run in await house.runs(c) if run["status"] == "waiting_reply"]
    assert [len(run["trigger"].get("events", [1])) for run in waiting] == [2]
    await house.owner.say(space, "The first")
    await house.until_idle()
    assert {run["status"] for run in await house.runs(c)} == {"completed"}


def test_e2_a_repeated_try_stays_the_trigger_of_what_it_takes_along() -> None:
    """Its payload names the failed try, whose other deliveries only this run can take."""
    head = SimpleNamespace(id="dlv_1", seq=3, attempts=1, gather_until=5, chain_depth=1)
    newer = SimpleNamespace(id="dlv_2", seq=7, attempts=0, gather_until=9, chain_depth=2)
    triggers: Any = {each.id: {"messageId": each.id, "chainDepth": each.chain_depth} for each in (head, newer)}
    first, trigger = joint_trigger(Group(cast(Any, head), [cast(Any, newer)]), triggers)
    assert first.id == "dlv_1"
    assert trigger["messageId"] == "dlv_1"
    assert trigger["chainDepth"] == 2
    head.attempts = 0
    first, _ = joint_trigger(Group(cast(Any, head), [cast(Any, newer)]), triggers)
    assert first.id == "dlv_2"
