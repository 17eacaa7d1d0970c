"""The basis of a gateway: a migrated database, the server key and the owner. Commands that need no more use only this
module, since importing the whole gateway takes three times as long."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import sqlalchemy as sa
import structlog

from majlis.data_directory import make_private
from majlis.entities.caller import Caller
from majlis.entities.entities import LIVING, add_entity
from majlis.entities.tokens import Hasher
from majlis.errors import ConfigurationError
from majlis.server_key import check_server_key, load_server_key
from majlis.settings import Settings
from majlis.store import ids
from majlis.store.migrate import migrate
from majlis.store.open import open_database, shown, sqlite_path
from majlis.store.passing_faults import is_passing
from majlis.store.server_clock import follow_server_clock
from majlis.store.tables import entities
from majlis.store.tables import gateway as facts
from majlis.store.transactions import Database, Tx

OWNER_TOKEN_ID = "owner-token"  # noqa: S105 - the name under which MAJLIS_OWNER_TOKEN appears, not the token
_WAIT_SECONDS = 1.0
_logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Foundation:
    db: Database
    hasher: Hasher
    gateway_id: str
    owner_id: str


async def prepare_foundation(settings: Settings, wait: bool = False) -> Foundation:
    key = load_server_key(settings)
    make_private(settings.data_dir, sqlite_path(settings.database))
    db = await _wait_for_store(settings) if wait and not settings.embedded else await open_store(settings)
    try:
        await follow_server_clock(db)
        gateway_id, owner_id = await db.write(set_up, key, settings.owner_name)
    except BaseException:
        await db.close()
        raise
    token = settings.owner_token.get_secret_value() if settings.owner_token else None
    return Foundation(db, Hasher(key, token), gateway_id, owner_id)


async def open_store(settings: Settings) -> Database:
    """Opens and migrates the database."""
    db = open_database(settings.database)
    try:
        if revisions := await migrate(db):
            _logger.info("database migrated", revision=revisions[-1])
    except BaseException as error:
        await db.close()
        if isinstance(error, (sa.exc.DBAPIError, OSError)):
            raise ConfigurationError(
                f"Cannot open the database {shown(settings.database)}: {_reason(error)}. "
                "Check --database-url, that the server is running, and that it accepts this user."
            ) from error
        raise
    return db


async def _wait_for_store(settings: Settings) -> Database:
    """Logs one line when the waiting begins and one when it ends. A fault that does not pass, such as a wrong password,
    ends it."""
    began = time.monotonic()
    waiting = False
    while True:
        try:
            db = await open_store(settings)
        except ConfigurationError as error:
            if error.__cause__ is None or not is_passing(error.__cause__):
                raise
            if not waiting:
                waiting = True
                _logger.warning(
                    "waiting for the database", database=shown(settings.database), reason=_reason(error.__cause__)
                )
            await asyncio.sleep(_WAIT_SECONDS)
        else:
            if waiting:
                _logger.info("the database is ready", seconds=round(time.monotonic() - began, 1))
            return db


def _reason(error: BaseException) -> str:
    return str(getattr(error, "orig", None) or error).strip().splitlines()[0]


def owner_caller(tx: Tx, owner_id: str, parent_id: str | None = None) -> Caller:
    """Returns this owner, or another one if it was deleted or replaced by an import."""
    owners = sa.select(entities).where(LIVING, entities.c.role == "owner")
    row = tx.one(owners.where(entities.c.id == owner_id)) or tx.execute(owners.order_by(entities.c.id).limit(1)).one()
    return Caller(row.id, row.name, row.type, row.role, OWNER_TOKEN_ID, parent_id=parent_id)


def find_owner(tx: Tx) -> str | None:
    statement = sa.select(entities.c.id).where(LIVING, entities.c.role == "owner").order_by(entities.c.id).limit(1)
    return tx.execute(statement).scalar_one_or_none()


def set_up(tx: Tx, key: bytes, owner_name: str) -> tuple[str, str]:
    """Creates the gateway's id and its owner on the first start. Nodes that start together agree on both."""
    if tx.dialect == "postgresql":
        tx.execute(sa.text("LOCK TABLE gateway IN SHARE ROW EXCLUSIVE MODE"))
    check_server_key(tx, key)
    gateway_id = tx.execute(sa.select(facts.c.value).where(facts.c.key == "id")).scalar_one_or_none()
    if gateway_id is None:
        gateway_id = ids.new("evt").removeprefix("evt_")
        tx.execute(facts.insert(), {"key": "id", "value": gateway_id})
    return gateway_id, find_owner(tx) or add_entity(tx, "human", owner_name, role="owner")["id"]
