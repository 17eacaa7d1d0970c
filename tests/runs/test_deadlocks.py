"""M12: agents that wait for each other in a ring are detected, and the youngest wait ends."""

from __future__ import annotations

from typing import Any

import pytest

import majlis.runs.worker
from majlis import clock
from majlis.clock import iso
from majlis.store.tables import runs
from majlis.store.transactions import Tx
from tests.model_server import Asked, Reply, call, say, silent
from tests.runs.house import House, timeline
from tests.world import Person


@pytest.fixture(autouse=True)
def looks_when_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker checks for rings when the test moves the clock, not once a second."""
    monkeypatch.setattr(majlis.runs.worker, "POLL_MILLIS", 3_600_000)


async def agents_only(house: House, name: str, *agents: Person) -> str:
    space = await house.space(name, *agents)
    await house.leave_to(space, agents[0])
    return space


def ringing(first: str, second: str, one: str = "Ann", other: str = "Bob") -> Any:
    """Ann asks in the first space and waits; Bob then asks back in the second space and waits."""

    def script(asked: Asked) -> Reply:
        if "RESUME" in asked.text:
            return silent()
        if asked.agent == one and "type: service" in asked.text:
            return [call("enter_space", spaceId=first), say(f"{other}?", wait=True)][asked.step]
        if asked.agent == other and asked.trigger_text == f"{other}?":
            return [call("enter_space", spaceId=second), say(f"{one}?", wait=True)][asked.step]
        return silent()

    return script


async def ring(house: House, ann: Person, first: str, second: str) -> None:
    """Waits until both wait for each other, before the ring is detected."""
    house.model.script = ringing(first, second)
    await house.tell(ann)
    await house.until_waiting(2)
    await house.until_idle()


def resumption(asked: Asked) -> str:
    """The space that the run was asked in follows the one it waited in (F4)."""
    [line] = [line for line in timeline(asked) if "RESUME" in line]
    return line


async def end_ring(house: House) -> None:
    house.advance(1)
    await until_resumed(house, "Bob")
    await house.until_idle()


async def test_m12_two_agents_that_wait_for_each_other_in_two_spaces_are_detected(house: House) -> None:
    ann, bob = await house.agent("Ann"), await house.agent("Bob")
    first, second = await agents_only(house, "First", ann, bob), await agents_only(house, "Second", ann, bob)
    await ring(house, ann, first, second)
    await end_ring(house)
    [resumed] = [asked for asked in house.invocations("Bob") if "RESUME" in asked.text]
    assert resumption(resumed) == (
        "← RESUME: timeout (deadlock: everyone who could answer was waiting, too). Continue from here."
    )
    # Only the youngest wait ends: Bob can now answer Ann.
    assert not [asked for asked in house.asked("Ann") if "RESUME" in asked.text]
    assert [run["status"] for run in await all_runs(ann) if run["trigger"]["type"] == "service"] == ["waiting_reply"]


async def test_w8_m12_a_question_at_the_depth_limit_that_only_agents_can_answer_is_refused(house: House) -> None:
    """Its answer would resume no run, so it cannot become part of a ring."""
    ann, bob = await house.agent("Ann"), await house.agent("Bob")
    private = await agents_only(house, "Private", ann, bob)
    deep = await house.space("Deep", ann, bob)

    def script(asked: Asked) -> Reply:
        if asked.trigger_text == "go":
            return say("1") if asked.agent == "Ann" and asked.step == 0 else silent()
        if asked.trigger_text in ("1", "2"):
            return say(str(int(asked.trigger_text) + 1)) if asked.step == 0 else silent()
        if asked.trigger_text == "3" and asked.step < 2:
            return [call("enter_space", spaceId=private), say("Still there?", wait=True)][asked.step]
        return silent()

    house.model.script = script
    await house.owner.say(deep, "go")
    await house.until_idle()
    [refused] = [asked for asked in house.asked("Bob") if asked.step == 2]
    assert "no member of this space could answer it" in refused.results[-1]["error"]
    assert await ann.ok("GET", f"/api/spaces/{private}/messages") == {"messages": [], "total": 0, "hasMore": False}


async def test_m12_a_person_in_one_of_the_spaces_may_still_answer(house: House) -> None:
    ann, bob = await house.agent("Ann"), await house.agent("Bob")
    first, second = await agents_only(house, "First", ann, bob), await house.space("Second", ann, bob)
    await ring(house, ann, first, second)
    house.advance(2)
    await house.until_idle()
    assert not [asked for asked in house.model.asked if "RESUME" in asked.text]


async def test_m12_a_ring_is_detected_when_the_last_person_leaves(house: House) -> None:
    """Both waits started while a person could have answered. They used to last until their timeout."""
    ann, bob = await house.agent("Ann"), await house.agent("Bob")
    first, second = await house.space("First", ann, bob), await house.space("Second", ann, bob)
    await ring(house, ann, first, second)
    for space in (first, second):
        await house.leave_to(space, ann)
    await end_ring(house)
    [resumed] = [asked for asked in house.model.asked if "RESUME" in asked.text]
    assert "deadlock" in resumption(resumed)


async def test_m12_a_viewer_cannot_answer(house: House) -> None:
    """A viewer in the space used to hide the ring."""
    ann, bob = await house.agent("Ann"), await house.agent("Bob")
    viewer = await house.person("Viewer")
    first, second = [await house.space(name, ann, bob) for name in ("First", "Second")]
    for space in (first, second):
        await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": viewer.id, "role": "viewer"})
        await house.leave_to(space, ann)
    await ring(house, ann, first, second)
    await end_ring(house)


async def test_m12_a_ring_is_detected_when_the_last_person_becomes_a_viewer(house: House) -> None:
    """Only leaving used to be checked: when the last person became a viewer, the agents waited until their timeout."""
    ann, bob = await house.agent("Ann"), await house.agent("Bob")
    first, second = await house.space("First", ann, bob), await house.space("Second", ann, bob)
    await ring(house, ann, first, second)
    for space in (first, second):
        for member, role in ((ann, "admin"), (house.owner, "viewer")):
            await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": member.id, "role": role})
    await end_ring(house)
    [resumed] = [asked for asked in house.model.asked if "RESUME" in asked.text]
    assert "deadlock" in resumption(resumed)


async def test_m12_a_wait_for_a_ring_that_is_not_part_of_it_continues(house: House) -> None:
    """Cy's wait is the youngest, and used to be ended instead of one in the ring."""
    ann, bob, cy = [await house.agent(name) for name in ("Ann", "Bob", "Cy")]
    first, second = await agents_only(house, "First", ann, bob), await agents_only(house, "Second", ann, bob)
    third = await agents_only(house, "Third", cy, ann)
    await ring(house, ann, first, second)
    house.model.script = lambda asked: (
        [call("enter_space", spaceId=third), say("Ann, too?", wait=True)][asked.step]
        if asked.agent == "Cy" and "RESUME" not in asked.text
        else silent()
    )
    clock.advance(10)
    await house.tell(cy)
    await house.until_waiting(3)
    await house.until_idle()
    await end_ring(house)
    assert [run["status"] for run in await all_runs(cy)] == ["waiting_reply"]


async def test_m12_several_rings_are_detected_at_once(house: House) -> None:
    """Only one ring a second used to be ended."""
    ann, bob, cy, dee = [await house.agent(name) for name in ("Ann", "Bob", "Cy", "Dee")]
    first, second = [await agents_only(house, name, ann, bob) for name in ("First", "Second")]
    third, fourth = [await agents_only(house, name, cy, dee) for name in ("Third", "Fourth")]
    one, other = ringing(first, second), ringing(third, fourth, "Cy", "Dee")
    house.model.script = lambda asked: (one if asked.agent in ("Ann", "Bob") else other)(asked)
    await house.tell(ann)
    await house.tell(cy)
    await house.until_waiting(4)
    await house.until_idle()
    house.advance(1)
    for agent in ("Bob", "Dee"):
        await until_resumed(house, agent)


async def test_m12_a_ring_is_detected_behind_any_number_of_older_waits(house: House) -> None:
    """Only the thousand oldest waits among agents used to be checked."""
    ann, bob, old, idle = [await house.agent(name) for name in ("Ann", "Bob", "Old", "Idle")]
    first, second = await agents_only(house, "First", ann, bob), await agents_only(house, "Second", ann, bob)
    crowd = await agents_only(house, "Crowd", old, idle)
    await house.world.gateway.db.write(add_waits, old, crowd, 1100)
    await ring(house, ann, first, second)
    await end_ring(house)


async def test_m12_an_agent_that_waits_for_an_idle_one_is_not_a_ring(house: House) -> None:
    ann, bob = await house.agent("Ann"), await house.agent("Bob")
    first = await agents_only(house, "First", ann, bob)
    house.model.script = lambda asked: (
        [call("enter_space", spaceId=first), say("Bob?", wait=True)][asked.step] if asked.agent == "Ann" else silent()
    )
    await house.tell(ann)
    await house.until_waiting(1)
    await house.until_idle()
    house.advance(2)
    await house.until_idle()
    [run] = await all_runs(ann)
    assert run["status"] == "waiting_reply"


def add_waits(tx: Tx, agent: Person, space: str, count: int) -> None:
    """Runs that wait there, far from their timeout."""
    row: dict[str, Any] = {
        "agent_id": agent.id,
        "status": "waiting_reply",
        "trigger": {"type": "service", "chainDepth": 0},
    }
    row |= {"wait_space_id": space, "deadline": tx.now + 10_000_000, "among_agents": True, "created_at": tx.now}
    wait = {"spaceId": space, "messageId": "msg_x", "startedAt": iso(tx.now), "timeoutSeconds": 10_000}
    tx.execute(runs.insert(), [{**row, "id": f"run_0{n:05}", "wait": wait} for n in range(count)])


async def all_runs(agent: Person) -> list[Any]:
    """As the agent itself sees them: the owner is in none of these spaces."""
    return list(reversed((await agent.ok("GET", "/api/runs", agentId=agent.id))["runs"]))


async def until_resumed(house: House, agent: str) -> None:
    while not [asked for asked in house.asked(agent) if "RESUME" in asked.text]:
        await house.model.until_asked(len(house.model.asked) + 1)
