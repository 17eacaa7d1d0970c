"""K2, J6 for the consciousness mind: a cycle takes what it can handle, and what it did not reach is offered again."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.model_server import Asked, Reply, call, calls, sequence, silent
from tests.runs.cycles import conscious, consciousness, first_requests, inbox, step
from tests.runs.house import House
from tests.world import Person


async def ask_at_once(house: House, scout: Person, spaces: list[str], count: int) -> list[Any]:
    """Messages that all wait for the agent's second cycle, in turn in each space."""
    gate = asyncio.Event()
    house.model.script = sequence(Reply(text="ready", gate=gate))
    await house.tell(scout, "begin")
    await house.model.until_asked(1)
    asked = [await house.owner.say(spaces[n % len(spaces)], f"question {n}") for n in range(count)]
    gate.set()
    return asked


def answers_in_order(asked: Asked, requests_for_each: int = 1) -> Reply:
    """One event after the other. With several requests for each, all but the last only look something up."""
    lines, at = inbox(asked), step(asked)
    if at // requests_for_each >= len(lines):
        return silent("All answered.")
    if at % requests_for_each < requests_for_each - 1:
        return call("get_memories")
    line = lines[at // requests_for_each]
    space, text = line.split("] ")[0].removeprefix("["), line.split('"')[1]
    spaces = [each for each in asked.text.split("\n") if f'"{space}" (id: ' in each]
    space_id = spaces[0].split("(id: ")[1].split(")")[0]
    return calls(("enter_space", {"spaceId": space_id}), ("send_message", {"text": f"answer to {text}"}))


async def test_k2_a_cycle_takes_no_more_events_than_it_has_steps(house: House) -> None:
    scout = await conscious(house, limits={"steps": 5})
    space = await house.space("Family", scout)
    asked = await ask_at_once(house, scout, [space], 12)
    house.model.script = answers_in_order
    await house.until_idle()
    said = [text for name, text in await house.texts(space) if name == "Scout"]
    assert said == [f"answer to question {n}" for n in range(12)]
    assert [len(inbox(each)) for each in first_requests(house, "Scout")] == [1, 5, 5, 2]
    assert [await house.deliveries(each) for each in asked] == [[("Scout", "done")]] * 12


async def test_j6_events_that_a_cycle_did_not_reach_are_offered_again_and_each_is_answered_once(house: House) -> None:
    scout = await conscious(house, limits={"steps": 6})
    spaces = [await house.space(name, scout) for name in ("Family", "Work")]
    asked = await ask_at_once(house, scout, spaces, 9)
    house.model.script = lambda asked: answers_in_order(asked, requests_for_each=2)
    await house.until_idle()
    said = [text for space in spaces for name, text in await house.texts(space) if name == "Scout"]
    assert sorted(said) == [f"answer to question {n}" for n in range(9)]
    assert [await house.deliveries(each) for each in asked] == [[("Scout", "done")]] * 9
    runs = (await house.runs(scout))[1:]
    assert [(len(run["trigger"]["events"]), run["reason"]) for run in runs] == [
        (6, "limit"),
        (6, "limit"),
        (3, "limit"),
    ]
    second = first_requests(house, "Scout")[2]
    again = "(again: your last cycle ended at a limit before it answered this)"
    assert [line.endswith(again) for line in inbox(second)] == [True] * 3 + [False] * 3
    assert len(await consciousness(house, scout)) == 4


async def test_j6_a_model_that_answers_nothing_ends_after_one_cycle_for_each_event(house: House) -> None:
    scout = await conscious(house, limits={"steps": 3})
    space = await house.space("Family", scout)
    asked = await ask_at_once(house, scout, [space], 3)
    house.model.script = lambda asked: call("get_memories")
    await house.until_idle()
    runs = (await house.runs(scout))[1:]
    assert [(len(run["trigger"]["events"]), run["reason"]) for run in runs] == [
        (3, "limit"),
        (2, "limit"),
        (1, "limit"),
    ]
    assert [await house.deliveries(each) for each in asked] == [[("Scout", "passed")]] * 3


async def test_j6_a_message_sent_for_an_event_without_a_space_accounts_for_it(house: House) -> None:
    scout = await conscious(house, limits={"steps": 3})
    space = await house.space("Family", scout)
    gate = asyncio.Event()
    house.model.script = sequence(Reply(text="ready", gate=gate))
    await house.tell(scout, "begin")
    await house.model.until_asked(1)
    for n in range(3):
        await house.tell(scout, n)
    posts = calls(("enter_space", {"spaceId": space}), ("send_message", {"text": "An order came in."}))
    house.model.script = lambda asked: posts if step(asked) == 0 else call("get_memories")
    gate.set()
    await house.until_idle()
    assert [len(inbox(each)) for each in first_requests(house, "Scout")] == [1, 3, 2, 1]
    assert len([name for name, _ in await house.texts(space) if name == "Scout"]) == 3


async def test_k2_a_cycle_takes_no_more_text_than_its_inbox_has_room_for(house: House) -> None:
    scout = await conscious(house, consciousness={"maxTokens": 8_000})
    space = await house.space("Family", scout)
    gate = asyncio.Event()
    house.model.script = sequence(Reply(text="ready", gate=gate))
    await house.tell(scout, "begin")
    await house.model.until_asked(1)
    asked = [await house.owner.say(space, f"{n} " + "word " * 600) for n in range(5)]
    house.model.script = lambda asked: silent("Read.")
    gate.set()
    await house.until_idle()
    sizes = [len(inbox(each)) for each in first_requests(house, "Scout")]
    assert sizes == [1, 2, 2, 1]
    assert not any("(cut:" in line for each in first_requests(house, "Scout") for line in inbox(each))
    assert [await house.deliveries(each) for each in asked] == [[("Scout", "passed")]] * 5
