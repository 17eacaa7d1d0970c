"""The gateway's database, opened by a command beside the server: as it is, never made and never migrated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import sqlalchemy as sa

from majlis.entities.tokens import end_tokens, issue
from majlis.errors import ConfigurationError
from majlis.foundation import Foundation, found
from majlis.settings import Settings
from majlis.store.migrate import revision
from majlis.store.migrations import REVISIONS
from majlis.store.open import open_database, parse_database_url, shown
from majlis.store.tables import gateway as facts
from majlis.store.tables import tokens
from majlis.store.transactions import Database, Tx

LABEL = "majlis command line"
LIFE_MILLIS = 3_600_000
_RENEW_SECONDS = LIFE_MILLIS / 2000


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Database]:
    """The bare database; or one line that says why not."""
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
            f"The database {shown(settings.database)} cannot be used: {reason(error)}. "
            "Check --database-url, and that the server runs and lets this user in."
        ) from None


async def open_foundation(settings: Settings) -> Foundation:
    """For changing something directly, as the owner of the machine may. Close its database afterwards."""
    await _require_gateway(settings)
    return await found(settings)


async def _require_gateway(settings: Settings) -> None:
    if is_missing(settings):
        raise ConfigurationError(
            f"There is no database {shown(settings.database)} yet. Start Majlis once with `majlis serve`, "
            "make it with `majlis migrate`, or name another with --data-dir or --database-url."
        )
    async with opened(settings) as db:
        if await db.read(revision) != REVISIONS[-1]:
            raise ConfigurationError(
                f"The database {shown(settings.database)} is older than this program. Run `majlis migrate` first."
            )
        if await db.read(was_served) and not has_key(settings):
            raise ConfigurationError(
                f"The server's key is not here: set MAJLIS_SECRET_KEY, or name the folder of its server.key with "
                f"--data-dir (there is none in {settings.data_dir})."
            )


@asynccontextmanager
async def owner_token(base: Foundation) -> AsyncIterator[str]:
    """A token of the owner for as long as the command runs. Should the command die, it ends within the hour."""
    db = base.db
    try:
        made, token = await db.write(_issue, base)
        renewing = asyncio.create_task(_renew_forever(db, made))
        try:
            yield token
        finally:
            renewing.cancel()
            await db.write(end_tokens, tokens.c.id == made)
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
    """Has a server been here and left the mark of its key?"""
    return tx.one(sa.select(facts.c.key).where(facts.c.key == "server_key_mark")) is not None


def reason(error: Exception) -> str:
    lines = str(getattr(error, "orig", None) or error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def _issue(tx: Tx, base: Foundation) -> tuple[str, str]:
    made, token = issue(tx, base.hasher, base.owner_id, "api", LABEL, tx.now + LIFE_MILLIS)
    return made["id"], token


async def _renew_forever(db: Database, token_id: str) -> None:
    while True:
        await asyncio.sleep(_RENEW_SECONDS)
        await db.write(renew, token_id)
