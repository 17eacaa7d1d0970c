"""Two services that agents call as tools, and that record every call."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field

from majlis.tool_decorator import ToolContext


@dataclass
class Service:
    random: random.Random
    # (tool, order, idempotency key) of every effect, in order.
    effects: list[tuple[str, str, str]] = field(default_factory=list)

    async def have_effect(self, tool: str, order: str, context: ToolContext) -> dict[str, str]:
        await asyncio.sleep(self.random.random() * 0.3)
        self.effects.append((tool, order, context.idempotency_key))
        await asyncio.sleep(self.random.random() * 2)
        return {"receipt": f"{tool} of {order}"}


_service: Service | None = None


def use(service: Service | None) -> None:
    """Tools are functions of a module, so the service of the current schedule is kept here."""
    global _service
    _service = service


async def charge(order: str, context: ToolContext) -> dict[str, str]:
    """Charges an order. Not idempotent."""
    assert _service is not None
    return await _service.have_effect("charge", order, context)


async def stamp(order: str, context: ToolContext) -> dict[str, str]:
    """Stamps an order. Idempotent."""
    assert _service is not None
    return await _service.have_effect("stamp", order, context)


def python_tool(name: str, idempotent: bool) -> dict[str, object]:
    """For an agent's config."""
    execution = {"function": f"{__name__}:{name}"}
    return {"type": "python", "name": name, "idempotent": idempotent, "execution": execution}
