"""A gateway: puts together settings, database, bus, hub, tools, models and worker."""

from __future__ import annotations

import asyncio
import contextlib

from majlis import janitor
from majlis.asks.answer import answer_by_reply, forget_message
from majlis.asks.close import ENDED as ASK_ENDED
from majlis.asks.close import strike_from_asks
from majlis.audit.seal import seal_forever
from majlis.cards.close import withdraw_cards_of_member
from majlis.entities.sessions import issue_sign_in_code
from majlis.entities.tokens import Hasher
from majlis.erase import erase_forever
from majlis.files.bucket import store_at
from majlis.files.reader import Reader
from majlis.files.upload import Uploads
from majlis.foundation import owner_caller, prepare_foundation
from majlis.live.bus import Bus, InProcessBus
from majlis.live.hub import Hub
from majlis.lobby import create_lobby
from majlis.models.connect.examine import Examiner
from majlis.models.guard import ModelGuard
from majlis.models.models import Models
from majlis.models.owner_hosts import model_hosts
from majlis.models.sizes_and_prices import Prices
from majlis.outside.polls import Polls
from majlis.push.send import PushSender
from majlis.runs.budget.check import Budgets
from majlis.runs.engine import Configs, Engine
from majlis.runs.worker import Worker
from majlis.secret_store import Cipher, SecretStore
from majlis.settings import Settings
from majlis.store.server_clock import follow_server_clock_forever
from majlis.store.transactions import Database
from majlis.summaries.summarise import Summaries
from majlis.tools.toolbox import Allowed, Tools
from majlis.waits.collect import strike_member
from majlis.waits.deadlock import leave_to_agents
from majlis.webhooks.agent_events import Pusher
from majlis.webhooks.send import WebhookSender


class Gateway:
    def __init__(self, settings: Settings, db: Database, bus: Bus, hasher: Hasher, owner_id: str) -> None:
        self.settings = settings
        self.db = db
        self.bus = bus
        self.hasher = hasher
        self.polls = Polls(bus)
        self.ask_polls = Polls(bus, ASK_ENDED)
        self.hub = Hub(db, bus, settings.events_kept_hours * 3_600_000, settings.max_streams_per_member)
        self.owner_id = owner_id
        self._tasks: list[asyncio.Task[None]] = []
        db.hooks.left += [withdraw_cards_of_member, leave_to_agents, strike_member, strike_from_asks]
        db.hooks.replied += [answer_by_reply]
        db.hooks.deleted += [forget_message]
        db.hooks.max_chain_depth = settings.max_chain_depth
        db.hooks.max_spaces_per_member = settings.max_spaces_per_member
        db.hooks.plans_shortest_millis = settings.plans_shortest_seconds * 1000
        db.hooks.plans_per_day = settings.plans_per_day
        db.hooks.max_runs_per_cause = settings.max_runs_per_cause
        db.hooks.file_bytes_per_member = settings.file_bytes_per_member
        db.hooks.file_bytes_per_space = settings.file_bytes_per_space
        store = store_at(settings.file_store, settings.files_dir)
        self.uploads = Uploads(store, settings.max_file_bytes, settings.max_uploads_per_member)
        self.secrets = SecretStore(db, Cipher(hasher.secret_key))
        guard = ModelGuard(
            settings.model_hosts, settings.model_env, store=self.secrets, owners_hosts=lambda: db.read(model_hosts)
        )
        self.models = Models(demo=settings.demo_choice, guard=guard)
        self.examiner = Examiner(self.models, guard)
        self.tools = Tools(Allowed.by(settings), self.secrets)
        self.webhooks = WebhookSender(db, Cipher(hasher.secret_key), settings.tool_hosts, settings.tool_private_hosts)
        self.pushes = PushSender(db, Cipher(hasher.secret_key), settings.tool_private_hosts)
        budgets = Budgets(settings.timezone, settings.budget_usd_per_day)
        prices = Prices(settings.model_prices, settings.demo_model)
        self.files = Reader(self.uploads.store)
        self.engine = Engine(
            db, self.hub, self.models, self.tools, Configs(db), self.files, self.uploads, prices, budgets
        )
        self.pusher = Pusher(db, self.webhooks, budgets)
        self.summaries = self._open_summaries()
        self.worker = Worker(self.engine, bus, settings.workers) if settings.workers else None

    def _open_summaries(self) -> Summaries | None:
        choice = self.settings.summary_choice
        if choice is None:
            return None
        model = self.models.of_settings(choice)
        made = Summaries(self.db, model, choice, self.engine.prices, self.engine.budgets)
        self.engine.summarise = made.want
        return made

    async def start(self) -> None:
        await self.bus.start()
        await self.hub.start()
        self._tasks = [
            asyncio.create_task(janitor.clean_forever(self.db, self.settings, self.uploads.store), name="janitor"),
            asyncio.create_task(follow_server_clock_forever(self.db), name="clock"),
            asyncio.create_task(erase_forever(self.db), name="erasure"),
            asyncio.create_task(seal_forever(self.db, self.hasher.audit_key), name="audit"),
            asyncio.create_task(self.webhooks.send_forever(), name="webhooks"),
            asyncio.create_task(self.pusher.push_forever(), name="events"),
            asyncio.create_task(self.pushes.send_forever(), name="pushes"),
        ]
        if self.worker is not None:
            self.worker.start()

    async def close(self) -> None:
        if self.worker is not None:
            await self.worker.stop()
        if self.summaries is not None:
            await self.summaries.close()
        await self.models.close()
        await self.tools.close()
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await self.hub.close()
        await self.bus.close()
        await self.db.close()

    async def create_lobby(self) -> None:
        if self.settings.demo:
            await self.db.write(lambda tx: create_lobby(tx, owner_caller(tx, self.owner_id)))

    async def sign_in_link(self, base_url: str) -> str:
        code, _ = await self.db.write(issue_sign_in_code, self.hasher, self.owner_id)
        return f"{base_url}/sign-in/{code}"


async def open_gateway(settings: Settings, wait: bool = False) -> Gateway:
    """The gateway is not started yet. With `wait`, PostgreSQL may still be starting."""
    base = await prepare_foundation(settings, wait)
    return Gateway(settings, base.db, _bus(settings, base.gateway_id), base.hasher, base.owner_id)


def _bus(settings: Settings, gateway_id: str) -> Bus:
    if not settings.bus_url:
        return InProcessBus()
    # Imported here, so that a gateway without NATS does not wait for the import of its client.
    from majlis.live.nats_bus import NatsBus

    return NatsBus(settings.bus_url, gateway_id)
