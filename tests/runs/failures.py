"""An agent whose model fails, and the notices about it."""

from __future__ import annotations

from typing import Any

from tests.model_server import Reply, sequence
from tests.runs.house import House


async def failing(house: House, *replies: Reply, **config: Any) -> tuple[str, Any]:
    """An agent whose model gives these replies, and a message for it: space, message."""
    house.try_models_once()
    scout = await house.agent("Scout", **config)
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(*replies)
    message = await house.owner.say(space, "Scout?")
    await house.until_idle()
    return space, message


async def notices(house: House, space: str) -> list[Any]:
    return [m for m in (await house.owner.history(space))["messages"] if m["kind"] == "notice"]
