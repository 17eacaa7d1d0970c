"""An agent's mind can be changed at any time: a run keeps its mind until it ends, and no delivery is lost."""

from __future__ import annotations

import asyncio
from itertools import permutations

import pytest

from majlis.inbox.deliver import deliver_tool_result
from tests.model_server import Asked, Reply, call, say, sequence, silent
from tests.runs.cycles import conscious, consciousness, done_before, inbox
from tests.runs.house import House, timeline
from tests.world import Person

BUSY = Reply(status=503, text="overloaded")


pytestmark = pytest.mark.usefixtures("standing_clock")


async def change(house: House, agent: Person, mind: str) -> None:
    await house.owner.ok("PATCH", f"/api/agents/{agent.id}", {"config": {"mind": mind}})


async def test_k2_deliveries_that_waited_for_a_busy_timeline_agent_become_one_cycle(house: House) -> None:
    husam, scout = await house.person("Husam"), await house.agent("Scout", limits={"concurrentRuns": 1})
    family = await house.space("Family", husam, scout)
    gate = asyncio.Event()
    house.model.script = sequence(Reply(gate=gate))
    await husam.say(family, "one")
    await house.model.until_asked(1)
    waiting = [await husam.say(family, text) for text in ("two", "three")]
    await change(house, scout, "consciousness")
    gate.set()
    await house.until_idle()
    first, second = house.asked("Scout")
    assert timeline(first) == ['Husam: "one"  [NEW] ← TRIGGER']
    assert inbox(second) == ['[Family] Husam (human): "two"', '[Family] Husam (human): "three"']
    assert [await house.deliveries(each) for each in waiting] == [[("Scout", "passed")]] * 2
    assert len(await consciousness(house, scout)) == 1


async def test_k3_a_cycle_ends_as_a_cycle_and_what_came_meanwhile_are_runs_of_the_new_mind(house: House) -> None:
    husam, scout = await house.person("Husam"), await conscious(house)
    family = await house.space("Family", husam, scout)
    gate = asyncio.Event()
    house.model.script = sequence(Reply(text="I remember one.", gate=gate))
    await husam.say(family, "one")
    await house.model.until_asked(1)
    for text in ("two", "three"):
        await husam.say(family, text)
    await change(house, scout, "timeline")
    gate.set()
    await house.until_idle()
    assert [cycle["summary"] for cycle in await consciousness(house, scout)] == ["I remember one."]
    runs = await house.runs(scout)
    assert [(run["trigger"]["text"], run["status"]) for run in runs] == [
        (text, "completed") for text in ("one", "two", "three")
    ]
    # With its first mind again, it continues from its earlier cycles.
    await change(house, scout, "consciousness")
    await husam.say(family, "four")
    await house.until_idle()
    assert "I remember one." in house.asked("Scout")[-1].text
    assert [cycle["n"] for cycle in await consciousness(house, scout)] == [1, 2]


async def test_m5_a_run_that_waits_is_resumed_as_it_began_beside_the_cycles(house: House) -> None:
    husam, scout = await house.person("Husam"), await house.agent("Scout")
    family, dev = await house.space("Family", husam, scout), await house.space("Dev Channel", husam, scout)
    house.model.script = sequence(say("May I?", wait=True))
    await husam.say(family, "Ship it")
    await house.until_waiting()
    await change(house, scout, "consciousness")

    def script(asked: Asked) -> Reply:
        if "ACTIVE RUNS:" in asked.text:
            return say("Shipped.") if "RESUME" in asked.text and asked.step == 0 else silent()
        return silent("A cycle.")

    house.model.script = script
    await husam.say(dev, "Hello")
    await house.until_idle()
    assert len(await consciousness(house, scout)) == 1
    answer = await husam.say(family, "Yes")
    await house.until_idle()
    assert [text for _, text in await house.texts(family)] == ["Ship it", "May I?", "Yes", "Shipped."]
    assert await house.deliveries(answer) == [("Scout", "done")]
    [resumed] = [
        asked for asked in house.asked("Scout") if "← RESUME: Husam replied." in asked.text and asked.step == 0
    ]
    assert "wait" in str(resumed.body["tools"][0]), "with the tools it began with"
    assert [run["status"] for run in await house.runs(scout)] == ["completed"] * 2
    assert len(await consciousness(house, scout)) == 1, "and it is no cycle"


async def test_k8_a_cycle_continues_a_failed_run_and_is_shown_what_it_did(house: House) -> None:
    house.try_models_once()
    husam, scout = await house.person("Husam"), await house.agent("Scout")
    family = await house.space("Family", husam, scout)
    house.model.script = sequence(say("On it"), BUSY)
    await husam.say(family, "one")
    await house.until_idle()
    await change(house, scout, "consciousness")
    house.advance(2)
    await house.until_idle()
    again = house.asked("Scout")[-1]
    assert [line.partition("You: ")[2] for line in done_before(again)] == ['called send_message("On it") in "Family"']
    assert len(await consciousness(house, scout)) == 1


async def test_k8_the_events_of_a_failed_cycle_become_runs_that_are_shown_what_it_did(house: House) -> None:
    house.try_models_once()
    husam, scout = await house.person("Husam"), await conscious(house)
    family = await house.space("Family", husam, scout)
    gate = asyncio.Event()
    house.model.script = sequence(
        Reply(text="first", gate=gate), call("enter_space", spaceId=family), say("On it"), BUSY
    )
    await house.tell(scout)
    await house.model.until_asked(1)
    for text in ("one", "two"):
        await husam.say(family, text)
    gate.set()
    await house.until_idle()
    await change(house, scout, "timeline")
    house.advance(2)
    await house.until_idle()
    for asked in house.asked("Scout")[-2:]:
        assert any('You: called send_message("On it")' in line for line in timeline(asked))
    assert [run["status"] for run in await house.runs(scout)] == ["completed", "failed", "completed", "completed"]


@pytest.mark.parametrize(("before", "after"), list(permutations(("timeline", "consciousness", "roles"), 2)))
async def test_pending_deliveries_are_handled_by_the_new_mind_after_every_change(
    house: House, before: str, after: str
) -> None:
    husam = await house.person("Husam")
    scout = await house.agent("Scout", mind=before, limits={"concurrentRuns": 1})
    family = await house.space("Family", husam, scout)
    gate = asyncio.Event()
    house.model.script = sequence(Reply(gate=gate))
    await husam.say(family, "message 0")
    await house.model.until_asked(1)
    pending = [await husam.say(family, f"message {n}") for n in (1, 2, 3)]
    await change(house, scout, after)
    gate.set()
    await house.until_idle()
    assert [await house.deliveries(each) for each in pending] == [[("Scout", "passed")]] * 3
    shown = "".join(asked.text for asked in house.asked("Scout")[1:])
    assert all(each["text"] in shown for each in pending)
    assert len(house.asked("Scout")) == (2 if after == "consciousness" else 4)
    assert {run["status"] for run in await house.runs(scout)} == {"completed"}


async def test_j5_a_tool_result_that_finds_a_timeline_mind_is_its_trigger(house: House) -> None:
    scout = await house.agent("Scout")
    await house.world.gateway.db.write(deliver_tool_result, scout.id, "run_x", "call_7", "approve", {"choice": "yes"})
    await house.until_idle()
    [asked] = house.asked("Scout")
    assert 'TRIGGER:\n  type: tool_result\n  tool: approve (call: call_7)\n  result: {"choice":"yes"}' in asked.text
