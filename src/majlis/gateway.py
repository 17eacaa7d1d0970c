"""A gateway: puts together settings, database, bus, hub, tools, models and worker."""

from __future__ import annotations

import asyncio
import contextlib

from majlis import janitor
from majlis.cards.close import withdraw_cards_of_member
from majlis.entities.sessions import issue_sign_in_code
from majlis.entities.tokens import Hasher
from majlis.foundation import owner_caller, prepare_foundation
from majlis.live.bus import Bus, InProcessBus
from majlis.live.hub import Hub
from majlis.live.nats_bus import NatsBus
from majlis.lobby import create_lobby
from majlis.models.models import Models
from majlis.runs.engine import Configs, Engine
from majlis.runs.worker import Worker
from majlis.settings import Settings
from majlis.store.transactions import Database
from majlis.tools.toolbox import Allowed, Tools
from majlis.waits.deadlock import leave_to_agents


class Gateway:
    def __init__(self, settings: Settings, db: Database, bus: Bus, hasher: Hasher, owner_id: str) -> None:
        self.settings = settings
        self.db = db
        self.bus = bus
        self.hasher = hasher
        self.hub = Hub(db, bus, settings.events_kept_hours * 3_600_000)
        self.owner_id = owner_id
        self._janitor: asyncio.Task[None] | None = None
        db.hooks.left += [withdraw_cards_of_member, leave_to_agents]
        db.hooks.max_chain_depth = settings.max_chain_depth
        self.models = Models(demo=settings.demo_choice)
        self.tools = Tools(Allowed.by(settings))
        self.engine = Engine(db, self.hub, self.models, self.tools, Configs(db))
        self.worker = Worker(self.engine, bus, settings.workers) if settings.workers else None

    async def start(self) -> None:
        await self.bus.start()
        await self.hub.start()
        self._janitor = asyncio.create_task(janitor.clean_forever(self.db, self.settings), name="janitor")
        if self.worker is not None:
            self.worker.start()

    async def close(self) -> None:
        if self.worker is not None:
            await self.worker.stop()
        await self.models.close()
        await self.tools.close()
        if self._janitor is not None:
            self._janitor.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._janitor
        await self.hub.close()
        await self.bus.close()
        await self.db.close()

    async def create_lobby(self) -> None:
        if self.settings.demo:
            await self.db.write(lambda tx: create_lobby(tx, owner_caller(tx, self.owner_id)))

    async def sign_in_link(self, base_url: str) -> str:
        code, _ = await self.db.write(issue_sign_in_code, self.hasher, self.owner_id)
        return f"{base_url}/sign-in/{code}"


async def open_gateway(settings: Settings) -> Gateway:
    """The gateway is not started yet."""
    base = await prepare_foundation(settings)
    bus: Bus = NatsBus(settings.bus_url, base.gateway_id) if settings.bus_url else InProcessBus()
    return Gateway(settings, base.db, bus, base.hasher, base.owner_id)
