"""The gateway's database, opened by a command next to the server. It is never created or migrated here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa

from majlis.cli.lookup import unknown
from majlis.entities.caller import Caller
from majlis.entities.entities import access_entity, find_by_names, list_entities
from majlis.entities.tokens import Hasher, end_tokens, issue
from majlis.errors import ConfigurationError
from majlis.foundation import Foundation, owner_caller, prepare_foundation
from majlis.settings import Settings
from majlis.store.ids import looks_like_id
from majlis.store.migrate import revision
from majlis.store.migrations import REVISIONS
from majlis.store.open import open_database, parse_database_url, shown
from majlis.store.tables import gateway as facts
from majlis.store.tables import tokens
from majlis.store.transactions import Database, Tx

T = TypeVar("T")

LABEL = "majlis command line"
LIFE_MILLIS = 3_600_000
_RENEW_SECONDS = LIFE_MILLIS / 2000


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Database]:
    db = open_database(settings.database)
    try:
        with explained(settings):
            yield db
    finally:
        await db.close()


@contextmanager
def explained(settings: Settings) -> Iterator[None]:
    try:
        yield
    except (sa.exc.DBAPIError, OSError) as error:
        raise ConfigurationError(
            f"Cannot use the database {shown(settings.database)}: {reason(error)}. "
            "Check --database-url, and that the database server is running and accepts this user."
        ) from None


async def open_foundation(settings: Settings) -> Foundation:
    """Opens the gateway's database. The caller closes it."""
    if is_missing(settings):
        raise ConfigurationError(
            f"There is no database {shown(settings.database)}. Create it with `majlis migrate` or `majlis serve`, "
            "or select another one with --data-dir or --database-url."
        )
    async with opened(settings) as db:
        if await db.read(revision) != REVISIONS[-1]:
            raise ConfigurationError(
                f"The database {shown(settings.database)} is older than this version. Run `majlis migrate` first."
            )
        if await db.read(was_served) and not has_key(settings):
            raise ConfigurationError(
                f"The server key is missing: {settings.data_dir} has no server.key. Set MAJLIS_SECRET_KEY, "
                "or select the right directory with --data-dir."
            )
    return await prepare_foundation(settings)


async def as_owner(settings: Settings, work: Callable[[Tx, Hasher, Caller], T]) -> T:
    """Runs a transaction with the rights of the gateway's owner."""
    base = await open_foundation(settings)
    try:
        with explained(settings):
            return await base.db.write(lambda tx: work(tx, base.hasher, owner_caller(tx, base.owner_id)))
    finally:
        await base.db.close()


def find_entity(tx: Tx, asked: str) -> sa.Row[Any]:
    if looks_like_id(asked):
        return access_entity(tx, asked)
    rows = find_by_names(tx, [asked])
    if not rows:
        raise unknown("entity", asked, [entity["name"] for entity in list_entities(tx)])
    return rows[0]


@asynccontextmanager
async def owner_token(base: Foundation) -> AsyncIterator[str]:
    """A token of the owner that is revoked when the command ends. If the command is killed, it expires in an hour."""
    db = base.db
    try:
        made, token = await db.write(
            lambda tx: issue(tx, base.hasher, base.owner_id, "api", LABEL, tx.now + LIFE_MILLIS)
        )
        renewing = asyncio.create_task(_renew_forever(db, made["id"]))
        try:
            yield token
        finally:
            renewing.cancel()
            await db.write(end_tokens, tokens.c.id == made["id"])
    finally:
        await db.close()


def renew(tx: Tx, token_id: str) -> None:
    tx.execute(tokens.update().where(tokens.c.id == token_id).values(expires_at=tx.now + LIFE_MILLIS))


def is_missing(settings: Settings) -> bool:
    return settings.embedded and not sqlite_file(settings).exists()


def sqlite_file(settings: Settings) -> Path:
    return Path(parse_database_url(settings.database).database or "")


def key_file(settings: Settings) -> Path:
    return settings.data_dir / "server.key"


def has_key(settings: Settings) -> bool:
    return settings.secret_key is not None or key_file(settings).exists()


def was_served(tx: Tx) -> bool:
    """A server has stored the fingerprint of its key."""
    return tx.one(sa.select(facts.c.key).where(facts.c.key == "server_key_mark")) is not None


def reason(error: Exception) -> str:
    lines = str(getattr(error, "orig", None) or error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


async def _renew_forever(db: Database, token_id: str) -> None:
    while True:
        await asyncio.sleep(_RENEW_SECONDS)
        await db.write(renew, token_id)
