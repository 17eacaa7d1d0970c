"""M11: how many times a run may wait, and how many of an agent's runs may wait."""

from __future__ import annotations

import asyncio

from tests.model_server import say, sequence, silent
from tests.runs.house import House


async def test_m11_a_run_waits_ten_times_at_most_and_then_goes_on(house: House) -> None:
    asker = await house.agent("Asker", limits={"waitsPerRun": 2})
    space = await house.space("Project Alpha", asker)
    house.model.script = sequence(say("1?", wait=True), say("2?", wait=True), say("3?", wait=True), say("Enough."))
    await house.owner.say(space, "Ask me")
    for answer in ("one", "two"):
        await house.until_waiting()
        await house.owner.say(space, answer)
        await house.until_idle() if answer == "two" else await house.model.until_asked(2)
    [run] = await house.runs()
    assert run["status"] == "completed"
    assert house.model.asked[3].results == [
        {
            "success": False,
            "error": "Nothing was sent: this run has waited 2 times, which is its limit. Send without wait, then end "
            "the run; a reply starts a new one.",
        }
    ]
    assert [text for _, text in await house.texts(space)] == ["Ask me", "1?", "one", "2?", "two", "Enough."]


async def test_m11_an_agent_has_five_waiting_runs_at_most(house: House) -> None:
    asker = await house.agent("Asker", limits={"waitingRuns": 2})
    house.model.script = lambda asked: (
        silent() if any(not result["success"] for result in asked.results) else say("Well?", wait=True)
    )
    spaces = [await house.space(f"Space {n}", asker) for n in range(3)]
    for n, space in enumerate(spaces, 1):
        await house.owner.say(space, "Ask me")
        await house.until_waiting(min(n, 2))
        await house.until_idle()
    assert [run["status"] for run in await house.runs()] == ["waiting_reply", "waiting_reply", "completed"]
    [result] = house.model.asked[-1].results
    assert result["error"].startswith("Nothing was sent: 2 of your runs are already waiting, which is the limit.")
    assert await house.texts(spaces[2]) == [("Owner", "Ask me")]


async def test_m11_runs_that_ask_at_the_same_moment_in_different_spaces_are_counted_too(house: House) -> None:
    """On PostgreSQL the runs used not to see each other's waits, and the limit was exceeded."""
    asker = await house.agent("Asker", limits={"waitingRuns": 2})
    house.model.script = lambda asked: (
        silent() if any(not result["success"] for result in asked.results) else say("Well?", wait=True)
    )
    spaces = [await house.space(f"Space {n}", asker) for n in range(5)]
    await asyncio.gather(*(house.owner.say(space, "Ask me") for space in spaces))
    await house.until_waiting(2)
    await house.until_idle()
    statuses = sorted(run["status"] for run in await house.runs())
    assert statuses == ["completed"] * 3 + ["waiting_reply"] * 2
