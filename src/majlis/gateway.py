"""A running gateway: settings, database, bus and hub put together. The one place that knows them all."""

from __future__ import annotations

import asyncio
import contextlib
import hmac

import sqlalchemy as sa
import structlog

from majlis import janitor
from majlis.entities.caller import Caller
from majlis.entities.entities import LIVING, add_entity
from majlis.entities.sessions import issue_sign_in_code
from majlis.entities.tokens import Hasher
from majlis.errors import ConfigurationError
from majlis.inbox.closing_cards import withdraw_cards_of_member
from majlis.inbox.delivering import delivering
from majlis.live.bus import Bus, InProcessBus
from majlis.live.hub import Hub
from majlis.live.nats_bus import NatsBus
from majlis.lobby import furnish
from majlis.models.opening import Models
from majlis.runs.engine import Configs, Engine
from majlis.runs.worker import Worker
from majlis.server_key import check_server_key, load_server_key
from majlis.settings import Settings
from majlis.store import ids
from majlis.store.migrating import migrate
from majlis.store.opening import open_database, shown
from majlis.store.tables import entities
from majlis.store.tables import gateway as facts
from majlis.store.transactions import Database, Tx
from majlis.tools.allowed import Allowed
from majlis.tools.toolbox import Tools

OWNER_TOKEN_ID = "owner-token"  # noqa: S105 - the name under which MAJLIS_OWNER_TOKEN appears, not the token
_logger = structlog.get_logger(__name__)


class Gateway:
    def __init__(self, settings: Settings, db: Database, bus: Bus, hasher: Hasher, owner_id: str) -> None:
        self.settings = settings
        self.db = db
        self.bus = bus
        self.hasher = hasher
        self.hub = Hub(db, bus, settings.events_kept_hours * 3_600_000)
        self.owner_id = owner_id
        token = settings.owner_token
        self._owner_hash = hasher.hash(token.get_secret_value()) if token else None
        self._sweeper: asyncio.Task[None] | None = None
        db.hooks.posted.append(delivering(settings.max_chain_depth))
        db.hooks.left.append(withdraw_cards_of_member)
        db.hooks.max_chain_depth = settings.max_chain_depth
        self.models = Models(demo=settings.demo_choice)
        self.tools = Tools(Allowed.by(settings))
        self.engine = Engine(db, self.hub, self.models, self.tools, Configs(db))
        self.worker = Worker(self.engine, bus, settings.workers) if settings.workers else None

    async def start(self) -> None:
        await self.bus.start()
        await self.hub.start()
        self._sweeper = asyncio.create_task(janitor.sweep_forever(self.db, self.settings), name="janitor")
        if self.worker is not None:
            self.worker.start()

    async def close(self) -> None:
        if self.worker is not None:
            await self.worker.stop()
        await self.models.close()
        await self.tools.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._sweeper
        await self.hub.close()
        await self.bus.close()
        await self.db.close()

    async def furnish(self) -> None:
        """A new gateway begins with a Lobby, unless the settings say otherwise."""
        if self.settings.demo:
            await self.db.write(lambda tx: furnish(tx, owner_caller(tx, self.owner_id)))

    def is_owner_token(self, token_hash: str) -> bool:
        return self._owner_hash is not None and hmac.compare_digest(self._owner_hash, token_hash)

    async def sign_in_link(self, base_url: str) -> str:
        code, _ = await self.db.write(issue_sign_in_code, self.hasher, self.owner_id)
        return f"{base_url}/sign-in/{code}"


async def open_gateway(settings: Settings) -> Gateway:
    """A gateway on an up-to-date database, not started yet."""
    key = load_server_key(settings)
    db = await open_store(settings)
    try:
        gateway_id, owner_id = await db.write(_set_up, key, settings.owner_name)
    except BaseException:
        await db.close()
        raise
    bus: Bus = NatsBus(settings.bus_url, gateway_id) if settings.bus_url else InProcessBus()
    return Gateway(settings, db, bus, Hasher(key), owner_id)


async def open_store(settings: Settings) -> Database:
    """The database, migrated; or one line that says why not."""
    db = open_database(settings.database)
    try:
        for revision in await migrate(db):
            _logger.info("database migrated", revision=revision)
    except BaseException as error:
        await db.close()
        if isinstance(error, (sa.exc.DBAPIError, OSError)):
            reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
            raise ConfigurationError(
                f"The database {shown(settings.database)} cannot be opened: {reason}. "
                "Check --database-url, and that the server runs and lets this user in."
            ) from None
        raise
    return db


def owner_caller(tx: Tx, owner_id: str) -> Caller:
    """The owner this process began with; or another, if that one was deleted or has made way for an import."""
    owners = sa.select(entities).where(LIVING, entities.c.role == "owner")
    row = tx.one(owners.where(entities.c.id == owner_id)) or tx.execute(owners.order_by(entities.c.id).limit(1)).one()
    return Caller(row.id, row.name, row.type, row.role, OWNER_TOKEN_ID)


def find_owner(tx: Tx) -> str | None:
    statement = sa.select(entities.c.id).where(LIVING, entities.c.role == "owner").order_by(entities.c.id).limit(1)
    return tx.execute(statement).scalar_one_or_none()


def _set_up(tx: Tx, key: bytes, owner_name: str) -> tuple[str, str]:
    """The gateway's id and its owner, made on the first start. Two nodes that start at once agree on both."""
    if tx.dialect == "postgresql":
        tx.execute(sa.text("LOCK TABLE gateway IN SHARE ROW EXCLUSIVE MODE"))
    check_server_key(tx, key)
    gateway_id = tx.execute(sa.select(facts.c.value).where(facts.c.key == "id")).scalar_one_or_none()
    if gateway_id is None:
        gateway_id = ids.new("evt").removeprefix("evt_")
        tx.execute(facts.insert(), {"key": "id", "value": gateway_id})
    return gateway_id, find_owner(tx) or add_entity(tx, "human", owner_name, role="owner")["id"]
