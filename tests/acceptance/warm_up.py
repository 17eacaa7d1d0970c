"""Does what a server does the first time (imports, compiling statements, building types) before any is forked."""

from __future__ import annotations

import asyncio
import gc
import threading

from majlis.settings import Settings
from tests.conditions import until
from tests.statement_cache import share_statement_cache
from tests.world import World, serve_world


def warm_up(settings: Settings) -> None:
    """Uses the database of these settings. Creates a space and an agent there and deletes them again."""
    share_statement_cache()
    asyncio.run(_live_a_little(settings))
    # Only a process with one thread can be forked safely.
    assert threading.active_count() == 1, threading.enumerate()
    gc.collect()
    gc.freeze()


async def _live_a_little(settings: Settings) -> None:
    async with serve_world(settings) as world:
        ada = await world.owner.ok("POST", "/api/agents", {"name": "Ada", "config": {"model": "demo"}})
        space = await world.owner.create_space("Warming up")
        await world.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": ada["id"]})
        for _ in range(2):
            await world.owner.say(space, "hello", clientId="once")
        await until(lambda: _is_answered(world, space))
        await world.owner.ok("DELETE", f"/api/spaces/{space}")
        await world.owner.ok("DELETE", f"/api/agents/{ada['id']}")


async def _is_answered(world: World, space: str) -> bool:
    spoken = (await world.owner.history(space))["total"] > 1
    return spoken and world.gateway.worker is not None and not world.gateway.worker.active
