"""An agent that has asked a question and waits."""

from __future__ import annotations

from typing import Any

from tests.model_server import Reply, say, sequence
from tests.runs.house import House
from tests.world import Person


async def asking(house: House, *replies: Reply, name: str = "Asker", **config: Any) -> tuple[Person, str, Any]:
    """An agent that has asked "Well?" in a space with the owner and waits there: agent, space, question."""
    asker = await house.agent(name, **config)
    space = await house.space("Project Alpha", asker)
    house.model.script = sequence(say("Well?", wait=True), *replies)
    await house.owner.say(space, "Ask me")
    await house.until_waiting()
    return asker, space, (await house.owner.history(space))["messages"][-1]
