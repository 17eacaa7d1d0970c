"""An agent's mind can be changed at any time: pending deliveries wait and are handled by its new mind."""

from __future__ import annotations

import asyncio
from itertools import permutations

import pytest

from tests.model_server import Reply, by_agent, say, silent
from tests.runs.house import House
from tests.world import Person

MINDS = ("timeline", "roles", "consciousness")


pytestmark = pytest.mark.usefixtures("standing_clock")


async def change_mind(house: House, agent: Person, mind: str) -> None:
    await house.owner.ok("PATCH", f"/api/agents/{agent.id}", {"config": {"mind": mind}})


@pytest.mark.parametrize(("first", "second"), list(permutations(MINDS, 2)))
async def test_pending_taken_and_failed_deliveries_are_handled_by_the_new_mind(
    house: House, first: str, second: str
) -> None:
    house.try_models_once()
    scout = await house.agent("Scout", mind=first, limits={"concurrentRuns": 1})
    space = await house.space("Project Alpha", scout)
    gate, failing = asyncio.Event(), [Reply(status=500)]
    house.model.script = lambda asked: failing.pop() if failing else Reply(gate=gate)
    said = [await house.owner.say(space, "failed at first")]
    await house.model.until_asked(1)
    await house.model.until_open(0)
    said += [await house.owner.say(space, text) for text in ("pending", "pending, too")]
    house.advance(2)
    await house.model.until_open(1)
    await change_mind(house, scout, second)
    gate.set()
    await house.until_idle()
    assert [await house.deliveries(message) for message in said] == [[("Scout", "passed")]] * 3
    shown = [asked.messages[-1]["content"] for asked in house.asked("Scout")[1:]]
    assert all(any(message["text"] in text for text in shown) for message in said)
    assert {run["status"] for run in await house.runs(scout)} == {"failed", "completed"}


async def test_a_run_that_waits_goes_on_with_another_mind_and_is_shown_its_answer(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = by_agent({"Scout": lambda asked: say("Net or gross?", wait=True)})
    await house.owner.say(space, "The numbers, please")
    await house.until_waiting()
    await change_mind(house, scout, "roles")
    house.model.script = by_agent({"Scout": lambda asked: say("Here.") if asked.step == 0 else silent()})
    await house.owner.say(space, "=== Net ===")
    await house.until_idle()
    shown = [(turn["role"], turn["content"]) for turn in house.invocations("Scout")[-1].messages[1:]]
    assert shown[0] == ("user", "The numbers, please")
    assert 'You: called send_message("Net or gross?", wait: true)' in shown[-1][1]
    assert shown[-1][1].endswith('"=== Net ==="  [NEW] ← RESUME: Owner replied. Continue from here.')
    [run] = await house.runs(scout)
    assert run["status"] == "completed"
    assert (await house.texts(space))[-1] == ("Scout", "Here.")


async def test_a_cursor_means_the_same_to_every_mind(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout, triggers="mentioned")
    house.model.script = lambda asked: silent()
    await house.owner.say(space, "@Scout one")
    await house.until_idle()
    await house.owner.say(space, "missed")
    await change_mind(house, scout, "roles")
    await house.owner.say(space, "@Scout two")
    await house.until_idle()
    assert "🟢 USER: missed" in house.asked("Scout")[-1].text
    await change_mind(house, scout, "timeline")
    await house.owner.say(space, "@Scout three")
    await house.until_idle()
    assert house.asked("Scout")[-1].text.count("[NEW]") == 2, "the rule that explains it, and the trigger"
