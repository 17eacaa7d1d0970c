"""E8: an agent's message is held if a message that may change it has arrived since the agent's last look."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from majlis.settings import Settings
from tests.conditions import until
from tests.model_server import Asked, Reply, Script, call, say, sequence, silent
from tests.runs import deploy_tools
from tests.runs.house import House, open_house, says

WORDS = "You are still expected to answer unless the new messages cover it completely."


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"tool_modules": [deploy_tools.HERE]})


def held(asked: Asked) -> Any:
    """The result of the last call, if the message was held."""
    result = asked.results[-1] if asked.results else {}
    return result if isinstance(result, dict) and result.get("status") == "held" else None


def insisting(text: str, **more: Any) -> Callable[[Asked], Reply]:
    """Says it once, however often it is held."""

    def script(asked: Asked) -> Reply:
        return say(text, **more) if asked.step == 0 or held(asked) else silent()

    return script


def gated(gate: asyncio.Event, script: Callable[[Asked], Reply]) -> Script:
    """The first request waits for the gate."""

    async def wait(asked: Asked) -> Reply:
        if asked.step == 0 and "RESUME" not in asked.text:
            await gate.wait()
        return script(asked)

    return wait


async def composing(house: House, space: str, text: str = "Which colour?") -> Any:
    """A message whose answer is being composed."""
    asked = len(house.model.asked)
    message = await house.owner.say(space, text)
    await house.model.until_asked(asked + 1)
    return message


async def test_e8_a_message_of_a_person_holds_the_answer_and_the_model_decides_again(house: House) -> None:
    scout = await house.agent("Scout", limits={"concurrentRuns": 1})
    space = await house.space("Project Alpha", scout)
    gate = asyncio.Event()

    def script(asked: Asked) -> Reply:
        if asked.trigger_text != "Which colour?" or (asked.step and not held(asked)):
            return silent()
        return say("Blue, then.") if held(asked) else say("Red.")

    house.model.script = gated(gate, script)
    await composing(house, space)
    await house.owner.say(space, "Not red, please.")
    gate.set()
    await house.until_idle()
    assert [text for _, text in await house.texts(space)] == ["Which colour?", "Not red, please.", "Blue, then."]
    result = held(house.asked("Scout")[1])
    assert [each["text"] for each in result["newMessages"]] == ["Not red, please."]
    assert result["success"] is False
    assert WORDS in result["note"]
    [run, _] = await house.runs(scout)
    step = (await house.owner.ok("GET", f"/api/runs/{run['id']}/steps"))[1]
    assert (step["name"], step["output"]["status"]) == ("send_message", "held")
    assert not (await house.owner.history(space))["messages"][-1]["crossed"]


async def test_e8_messages_that_the_model_was_shown_hold_nothing_back(house: House) -> None:
    """Its trigger, its own messages, notices, tool messages and what it read before it wrote."""
    scout = await house.agent("Scout", tools=[deploy_tools.tool("deploy", visible=True)])
    space = await house.space("Project Alpha", scout)
    replies = [say("One."), call("deploy", version="1"), say("Two."), call("read_messages"), say("Three.")]
    house.model.script = lambda asked: replies[asked.step] if asked.step < len(replies) else silent()
    await house.owner.say(space, "Go")
    await house.until_idle()
    assert [text for _, text in await house.texts(space) if text] == ["Go", "One.", "Two.", "Three."]
    assert len(house.model.asked) == 6


async def test_e8_read_messages_is_a_look(house: House) -> None:
    scout = await house.agent("Scout", limits={"concurrentRuns": 1})
    space = await house.space("Project Alpha", scout)
    gate = asyncio.Event()
    replies = [call("read_messages"), say("I read it.")]

    def script(asked: Asked) -> Reply:
        return replies[asked.step] if asked.trigger_text == "Go" and asked.step < 2 else silent()

    house.model.script = gated(gate, script)
    await composing(house, space, "Go")
    await house.owner.say(space, "One more thing.")
    gate.set()
    await house.until_idle()
    assert (await house.texts(space))[-1] == ("Scout", "I read it.")
    assert not [asked for asked in house.model.asked if held(asked)]


async def test_e8_at_most_two_holds_then_it_is_posted_and_marked(house: House) -> None:
    scout = await house.agent("Scout", limits={"concurrentRuns": 1})
    space = await house.space("Project Alpha", scout)

    async def script(asked: Asked) -> Reply:
        if asked.trigger_text != "Which colour?" or (asked.step and not held(asked)):
            return silent()
        tries = len(asked.results)
        await house.owner.say(space, f"Wait, {tries}.")
        return say(f"Try {tries}")

    house.model.script = script
    await house.owner.say(space, "Which colour?")
    await house.until_idle()
    page = await house.owner.history(space)
    said = [(each["text"], each["crossed"]) for each in page["messages"]]
    assert said == [
        ("Which colour?", False), ("Wait, 0.", False), ("Wait, 1.", False), ("Wait, 2.", False), ("Try 2", True),
    ]  # fmt: skip


@pytest.mark.parametrize("config", [{"guard": False}, {"mind": "roles"}])
async def test_e8_off_by_setting_and_in_roles(house: House, config: dict[str, Any]) -> None:
    scout = await house.agent("Scout", limits={"concurrentRuns": 1}, **config)
    space = await house.space("Project Alpha", scout)
    gate = asyncio.Event()
    house.model.script = gated(gate, lambda asked: say("Red.") if len(house.model.asked) == 1 else silent())
    await composing(house, space)
    await house.owner.say(space, "Not red, please.")
    gate.set()
    await house.until_idle()
    assert (await house.texts(space))[2] == ("Scout", "Red.")
    assert not (await house.owner.history(space))["messages"][2]["crossed"]


async def test_e8_other_causes_services_and_notices_do_not_hold_unless_they_name_the_agent(house: House) -> None:
    scout, other = await house.agent("Scout"), await house.agent("Other")
    space = await house.space("Project Alpha", scout, other, triggers="mentioned")
    service = await house.world.person("Shop", "service")
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": service.id})
    gate = asyncio.Event()

    def script(asked: Asked) -> Reply:
        if asked.agent == "Other":
            replies = [call("enter_space", spaceId=space), say("Something else.")]
            return replies[asked.step] if asked.step < 2 else silent()
        return insisting("Red.")(asked) if asked.trigger_text == "@Scout go" else silent()

    house.model.script = _only(gate, "Scout", script)
    await composing(house, space, "@Scout go")
    await service.say(space, "An order.")
    await house.tell(other, {"order": 1})
    await until(partial(_has_said, house, space, "Something else."))
    gate.set()
    await house.until_idle()
    assert (await house.texts(space))[-1] == ("Scout", "Red.")
    assert not [asked for asked in house.asked("Scout") if held(asked)]
    gate.clear()
    await composing(house, space, "@Scout go")
    await service.say(space, "@Scout, an order.")
    gate.set()
    await house.until_idle()
    assert [asked for asked in house.asked("Scout") if held(asked)]


def _only(gate: asyncio.Event, agent: str, script: Callable[[Asked], Reply]) -> Script:
    async def wait(asked: Asked) -> Reply:
        if asked.agent == agent and asked.step == 0:
            await gate.wait()
        return script(asked)

    return wait


async def _has_said(house: House, space: str, text: str) -> bool:
    return text in [each for _, each in await house.texts(space)]


async def test_e8_another_run_of_the_agent_holds(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    gate = asyncio.Event()

    async def script(asked: Asked) -> Reply:
        if asked.trigger_text == "First?":
            if asked.step == 0:
                await gate.wait()
            return insisting("The first.")(asked)
        return insisting("The second.")(asked)

    house.model.script = script
    await composing(house, space, "First?")
    await house.owner.say(space, "Second?")
    await until(partial(_has_said, house, space, "The second."))
    gate.set()
    await house.until_idle()
    assert [text for _, text in await house.texts(space)][2:] == ["The second.", "The first."]
    [result] = [result for asked in house.model.asked if (result := held(asked))]
    assert [each["text"] for each in result["newMessages"]] == ["Second?", "The second."]


async def test_e8_held_agents_decide_one_after_another(house: House) -> None:
    """Each that decides again has read what all others have said before it."""
    names = [f"Agent {n}" for n in range(5)]
    agents = [await house.agent(name) for name in names]
    space = await house.space("Project Alpha", *agents)
    gate = asyncio.Event()
    deciding = 0
    most = 0

    async def script(asked: Asked) -> Reply:
        nonlocal deciding, most
        if asked.trigger_text != "Hello everyone":
            return silent()
        if asked.step:
            return silent()
        if not held(asked):
            await gate.wait()
        else:
            deciding += 1
            most = max(most, deciding)
            await asyncio.sleep(0.02)
            deciding -= 1
        return say(f"Hello from {asked.agent}")

    house.model.script = script
    await house.owner.say(space, "Hello everyone")
    await house.model.until_asked(5)
    gate.set()
    await house.until_idle()
    page = await house.owner.history(space)
    assert sorted(each["text"] for each in page["messages"][1:]) == [f"Hello from {name}" for name in names]
    assert most == 1
    # Each was held once, and read everything before its message.
    first = [result for asked in house.model.asked if (result := held(asked)) and len(asked.results) == 1]
    assert sorted(len(result["newMessages"]) for result in first) == [1, 2, 3, 4]
    assert not [each for each in page["messages"] if each["crossed"]]
    # The messages that a held result showed do not wake the agent again.
    for number, message in enumerate(page["messages"][1:], 1):
        states = [state for _, state in await house.deliveries(message)]
        assert states.count("done") >= 5 - number - 1
    assert len(await house.runs()) <= 10


async def test_e8_a_ticket_expires(house: House) -> None:
    """The run that decides again does not come back: after 20 s the next one decides."""
    fast, stuck, last = [await house.agent(name) for name in ("Fast", "Stuck", "Last")]
    space = await house.space("Project Alpha", fast, stuck, last)
    gates = {name: asyncio.Event() for name in ("Fast", "Stuck", "Last", "never")}

    async def script(asked: Asked) -> Reply:
        if asked.trigger_text != "Hello" or (asked.step and not held(asked)):
            return silent()
        if held(asked) and asked.agent == "Stuck":
            await gates["never"].wait()
        await gates[asked.agent].wait()
        return say(f"I am {asked.agent}")

    house.model.script = script
    await house.owner.say(space, "Hello")
    await house.model.until_asked(3)
    gates["Fast"].set()
    await until(partial(_has_said, house, space, "I am Fast"))
    gates["Stuck"].set()
    await until(partial(_was_told, house, "Stuck"))
    gates["Last"].set()
    await until(partial(_is_held, house, last))
    assert not [asked for asked in house.asked("Last") if held(asked)]
    house.advance(21)
    await until(partial(_has_said, house, space, "I am Last"))
    gates["never"].set()
    await house.until_idle()
    assert sorted(text for _, text in await house.texts(space)) == ["Hello", "I am Fast", "I am Last", "I am Stuck"]


async def _was_told(house: House, agent: str) -> bool:
    return any(held(asked) for asked in house.asked(agent))


async def _is_held(house: House, agent: Any) -> bool:
    """It waits for its turn: its answer is in the journal, the call is not."""
    [run] = await house.runs(agent, status="running")
    return [step["kind"] for step in (await house.owner.ok("GET", f"/api/runs/{run['id']}/steps"))] == ["model"]


async def test_e8_two_agents_that_hold_each_other_come_to_an_end(house: House) -> None:
    """Each of them speaks again and again, and names the other."""
    a, b = await house.agent("A"), await house.agent("B")
    space = await house.space("Project Alpha", a, b)
    await house.owner.ok("PATCH", f"/api/spaces/{space}", {"gatherMillis": 0, "maxChainDepth": 2})

    def script(asked: Asked) -> Reply:
        other = "B" if asked.agent == "A" else "A"
        return say(f"@{other} {asked.step}") if asked.step < 2 else silent()

    house.model.script = script
    await house.owner.say(space, "Hello")
    await house.until_idle()
    for run in await house.runs():
        steps = await house.owner.ok("GET", f"/api/runs/{run['id']}/steps")
        results = [step["output"] for step in steps if step["kind"] == "tool"]
        assert sum(result["status"] == "held" for result in results) <= 2


async def test_e8_an_agent_in_a_long_call_and_fast_peers(house: House) -> None:
    """The peers do not wait for it. When it writes, it reads what they said."""
    deploy_tools.release.clear()
    busy = await house.agent("Busy", tools=[deploy_tools.tool("hold")])
    peers = [await house.agent(name) for name in ("One", "Two")]
    space = await house.space("Project Alpha", busy, *peers)
    busy_has_looked = asyncio.Event()

    async def script(asked: Asked) -> Reply:
        if asked.trigger_text != "Hello":
            return silent()
        if asked.agent == "Busy" and asked.step == 0:
            busy_has_looked.set()
            return call("hold")
        await busy_has_looked.wait()
        begins = 1 if asked.agent == "Busy" else 0
        return say(f"I am {asked.agent}") if asked.step == begins else silent()

    house.model.script = script
    try:
        await house.owner.say(space, "Hello")
        await until(partial(_has_said, house, space, "I am One"))
        await until(partial(_has_said, house, space, "I am Two"))
        assert (await house.runs(busy))[0]["status"] == "running"
    finally:
        deploy_tools.release.set()
    await house.until_idle()
    assert (await house.texts(space))[-1] == ("Busy", "I am Busy")
    [result] = [result for asked in house.asked("Busy") if (result := held(asked))]
    assert {each["text"] for each in result["newMessages"]} == {"I am One", "I am Two"}


async def test_e8_a_cycle_is_told_of_messages_by_its_inbox_and_previews(house: House) -> None:
    mind = await house.agent("Mind", mind="consciousness")
    space = await house.space("Project Alpha", mind)

    async def script(asked: Asked) -> Reply:
        if asked.step == 0:
            if "Which colour?" not in asked.text:
                return silent()
            return call("enter_space", spaceId=space)
        if asked.step == 1:
            await house.owner.say(space, "Not red.")
            return call("get_memories")
        if held(asked):
            return say("Blue!")
        if asked.step == 2:
            assert "Not red." in asked.text
            await house.owner.say(space, "Nor green.")
            return say("Blue?")
        return silent()

    house.model.script = script
    await house.owner.say(space, "Which colour?")
    await until(partial(_has_said, house, space, "Blue!"))
    await house.until_idle()
    results = [result for asked in house.model.asked if (result := held(asked))]
    assert [each["text"] for each in results[0]["newMessages"]] == ["Nor green."]
    assert results == [results[0]] * len(results)


async def test_e8_a_cycle_that_stays_in_its_space_is_not_held_by_its_own_inbox(house: House) -> None:
    mind = await house.agent("Mind", mind="consciousness")
    space = await house.space("Project Alpha", mind)
    house.model.script = sequence(
        call("enter_space", spaceId=space), say("Hello."), silent(), say("Hello again."), silent()
    )
    for text in ("One", "Two"):
        await house.owner.say(space, text)
        await house.until_idle()
    assert (await house.texts(space))[-1] == ("Mind", "Hello again.")
    assert len(house.model.asked) == 5


async def test_e8_an_agent_that_speaks_by_text_decides_again_too(house: House) -> None:
    scout = await house.agent("Scout", speak="text", limits={"concurrentRuns": 1})
    space = await house.space("Project Alpha", scout)
    gate = asyncio.Event()

    async def script(asked: Asked) -> Reply:
        if asked.trigger_text != "Which colour?":
            return silent()
        if len(house.model.asked) > 1:
            return silent("Blue, then.")
        await gate.wait()
        return silent("Red.")

    house.model.script = script
    await composing(house, space)
    await house.owner.say(space, "Not red, please.")
    gate.set()
    await house.until_idle()
    assert [text for _, text in await house.texts(space)][2:] == ["Blue, then."]
    assert "Not red, please." in house.model.asked[1].text
    assert WORDS in house.model.asked[1].text


async def test_e8_a_held_message_is_decided_again_after_a_crash(settings: Settings) -> None:
    """The journal says that it was held, and how many times."""
    async with open_house(settings) as house:
        scout = await house.agent("Scout", limits={"concurrentRuns": 1})
        space = await house.space("Project Alpha", scout)
        stop = asyncio.Event()

        async def script(asked: Asked) -> Reply:
            if asked.trigger_text != "Which colour?":
                return silent()
            if "held" in asked.text and not held(asked):
                return say("Blue, then.") if asked.step == 0 else silent()
            if held(asked):
                stop.set()
                await asyncio.Event().wait()
            await house.owner.say(space, "Not red, please.")
            return say("Red.")

        house.model.script = script
        await house.owner.say(space, "Which colour?")
        await stop.wait()
        worker = house.world.gateway.worker
        assert worker is not None
        # As after a crash: another invocation goes on from the journal.
        worker._hand_back_all()
        await until(partial(_has_said, house, space, "Blue, then."))
        await house.until_idle()
        texts = [text for _, text in await house.texts(space)]
        assert texts == ["Which colour?", "Not red, please.", "Blue, then."]


async def test_e8_single_messages_cost_no_further_request(house: House) -> None:
    agents = [await house.agent(name) for name in ("A", "B")]
    space = await house.space("Project Alpha", *agents, triggers="mentioned")
    house.model.script = says("Yes.")
    for name in ("A", "B"):
        await house.owner.say(space, f"@{name}?")
        await house.until_idle()
    assert len(house.model.asked) == 4
