"""A run whose agent is deleted while it waits."""

from __future__ import annotations

import asyncio

from tests.conditions import PATIENCE_SECONDS
from tests.runs.house import House
from tests.runs.questions import asking


async def test_m8_the_wait_of_a_deleted_agent_ends(house: House) -> None:
    """Its run used to be shown as waiting until the timeout, and an answer was lost."""
    asker, _, _ = await asking(house)
    await house.owner.ok("DELETE", f"/api/agents/{asker.id}")
    house.advance(1)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (run := (await house.runs())[0])["status"] in ("waiting_reply", "queued"):
            pass
    assert (run["status"], run["wait"], run["reason"]) == ("canceled", None, "its agent was deleted")
    assert len(house.model.asked) == 1
