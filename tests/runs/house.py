"""A gateway with agents whose model a test scripts: people speak over HTTP, agents answer through the real engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import sqlalchemy as sa

from majlis import clock
from majlis.settings import Settings
from majlis.store.tables import deliveries, runs
from majlis.store.transactions import Tx
from tests.model_server import ModelServer
from tests.waiting import PATIENCE_SECONDS
from tests.world import Person, World, serve_world

UNFINISHED = ("queued", "running")


class House:
    def __init__(self, world: World, model: ModelServer) -> None:
        self.world = world
        self.model = model
        self.owner = world.owner

    async def agent(self, name: str, **config: Any) -> Person:
        return await self.world.agent(name, model=self.model.model, **config)

    async def person(self, name: str) -> Person:
        return await self.world.person(name)

    async def space(self, name: str, *members: Person, **more: Any) -> str:
        return await self.owner.create_space(name, *members, **more)

    async def quiet(self) -> None:
        """Nothing is owed now and nobody works: whatever was to happen has happened."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await self.world.gateway.db.read(_busy):
                await asyncio.sleep(0.005)

    async def runs(self, agent: Person | None = None, **params: Any) -> list[Any]:
        """Oldest first."""
        if agent is not None:
            params["agentId"] = agent.id
        page = await self.owner.ok("GET", "/api/runs", limit=200, **params)
        return list(reversed(page["runs"]))

    async def texts(self, space: str) -> list[tuple[str, str]]:
        page = await self.owner.history(space, limit=200)
        return [(message["sender"]["name"], message["text"]) for message in page["messages"]]

    async def until_waiting(self, count: int = 1) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await self.world.gateway.db.read(_waiting) < count:
                await asyncio.sleep(0.005)

    def advance(self, seconds: float) -> None:
        """Time passes, and the worker notices."""
        clock.advance(int(seconds * 1000))
        worker = self.world.gateway.worker
        assert worker is not None
        worker.look_soon()


def _busy(tx: Tx) -> bool:
    owed = sa.exists().where(deliveries.c.state == "pending", deliveries.c.not_before <= clock.now())
    working = sa.exists().where(runs.c.status.in_(UNFINISHED))
    return bool(tx.execute(sa.select(sa.or_(owed, working))).scalar_one())


def _waiting(tx: Tx) -> int:
    statement = sa.select(sa.func.count()).where(runs.c.status.in_(("waiting_reply", "waiting_tool")))
    return int(tx.execute(statement).scalar_one())


@asynccontextmanager
async def open_house(settings: Settings) -> AsyncIterator[House]:
    async with ModelServer() as model, serve_world(settings) as world:
        yield House(world, model)
