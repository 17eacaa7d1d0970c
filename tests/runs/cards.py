"""For tests of interactive tools and policies: an agent that has put up a card, and answers to it."""

from __future__ import annotations

from typing import Any

import httpx

from tests.model_server import Reply, Script, call, sequence
from tests.runs.house import House
from tests.world import Person

APPROVE: dict[str, Any] = {"name": "approve", "type": "space", "ui": "approval"}
QUESTION = "Shall I deploy 1.4?"


async def asked(
    house: House, *replies: Reply | Script, tool: dict[str, Any] = APPROVE, **config: Any
) -> tuple[Person, str, Any]:
    """An agent that waits for an answer in a space with the owner: agent, space, the card's message."""
    bot = await house.agent("Bot", tools=[tool], **config)
    space = await house.space("Releases", bot)
    house.model.script = sequence(call(tool["name"], question=QUESTION), *replies)
    await house.owner.say(space, "Deploy, please")
    await house.until_waiting()
    return bot, space, (await house.owner.history(space))["messages"][-1]


async def submit(person: Person, card: Any, result: Any) -> httpx.Response:
    body = {"toolCallId": card["tool"]["callId"], "result": result}
    return await person.post(f"/api/runs/{card['runId']}/tool-results", body)


async def card_in(house: House, space: str) -> Any:
    """The newest card, in its current state."""
    page = await house.owner.history(space, limit=200)
    return [message for message in page["messages"] if message["kind"] == "tool" and message["tool"]["ui"]][-1]
