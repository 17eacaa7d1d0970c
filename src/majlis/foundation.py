"""What a gateway stands on: an up-to-date database, the server's key, and its owner. The command line changes those
directly, and would wait three times as long for everything else that a gateway is made of."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
import structlog

from majlis.entities.caller import Caller
from majlis.entities.entities import LIVING, add_entity
from majlis.entities.tokens import Hasher
from majlis.errors import ConfigurationError
from majlis.server_key import check_server_key, load_server_key
from majlis.settings import Settings
from majlis.store import ids
from majlis.store.migrate import migrate
from majlis.store.open import open_database, shown
from majlis.store.tables import entities
from majlis.store.tables import gateway as facts
from majlis.store.transactions import Database, Tx

OWNER_TOKEN_ID = "owner-token"  # noqa: S105 - the name under which MAJLIS_OWNER_TOKEN appears, not the token
_logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Foundation:
    db: Database
    hasher: Hasher
    gateway_id: str
    owner_id: str


async def found(settings: Settings) -> Foundation:
    key = load_server_key(settings)
    db = await open_store(settings)
    try:
        gateway_id, owner_id = await db.write(_set_up, key, settings.owner_name)
    except BaseException:
        await db.close()
        raise
    return Foundation(db, Hasher(key), gateway_id, owner_id)


async def open_store(settings: Settings) -> Database:
    """The database, migrated; or one line that says why not."""
    db = open_database(settings.database)
    try:
        if revisions := await migrate(db):
            _logger.info("database migrated", revision=revisions[-1])
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
