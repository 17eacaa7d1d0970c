"""The hub's timers: heartbeats, and streams whose token has ended without a hint."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest
import sqlalchemy as sa

from majlis import clock
from majlis.live import hub
from majlis.settings import Settings
from majlis.store.tables import tokens
from tests.conditions import PATIENCE_SECONDS
from tests.follower import StreamEnded
from tests.world import serve_world

HOUR = 3_600_000


@pytest.fixture
def quick_timers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "_POLL_SECONDS", 0.01)
    monkeypatch.setattr(hub, "_TICK_SECONDS", 0.01)
    monkeypatch.setattr(hub, "_HEARTBEAT_SECONDS", 0.02)
    monkeypatch.setattr(hub, "_CHECK_TOKENS_EVERY", 2)


def test_the_heartbeat_is_due_before_fifteen_seconds_are_over() -> None:
    assert hub._TICK_SECONDS + hub._HEARTBEAT_SECONDS <= 15


def test_the_log_is_polled_every_second() -> None:
    assert hub._POLL_SECONDS <= 1


@pytest.mark.usefixtures("quick_timers")
async def test_an_idle_stream_hears_a_heartbeat(settings: Settings) -> None:
    async with serve_world(settings) as world:
        space = await world.owner.create_space()
        async with world.owner.follow(space) as stream:
            await stream.next()
            waiting = asyncio.create_task(stream.next())
            async with asyncio.timeout(PATIENCE_SECONDS):
                while stream.comments < 3:
                    await world.owner.get("/api/health")
            await world.owner.say(space, "awake")
            assert (await waiting).type == "space.message"


@pytest.mark.usefixtures("quick_timers")
@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_a_heartbeat_waits_for_no_database(settings: Settings) -> None:
    """Heartbeats used to follow the poll of the log, so clients gave up their streams when the database was slow."""
    async with serve_world(settings) as world:
        space = await world.owner.create_space()
        async with world.owner.follow(space) as stream, stuck(settings.database_url, "spaces"):
            await stream.next()
            heard = stream.comments
            waiting = asyncio.create_task(stream.next())
            async with asyncio.timeout(PATIENCE_SECONDS):
                while stream.comments < heard + 5:
                    await world.owner.get("/api/health")
            waiting.cancel()


@asynccontextmanager
async def stuck(database_url: str, table: str) -> AsyncIterator[None]:
    """Reads of this table wait."""
    connection = await asyncpg.connect(sa.make_url(database_url).set(drivername="postgresql").render_as_string(False))
    try:
        async with connection.transaction():
            await connection.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
            yield
    finally:
        await connection.close()


@pytest.mark.usefixtures("quick_timers")
async def test_a_stream_ends_with_its_token_even_without_a_hint(settings: Settings) -> None:
    """A hint may be lost on the bus; here the token is revoked directly in the database."""
    async with serve_world(settings) as world:
        sara = await world.person("Sara")
        async with sara.follow() as stream:
            await stream.next()
            ending = tokens.update().where(tokens.c.entity_id == sara.id).values(ended_at=clock.now())
            await world.gateway.db.write(lambda tx: tx.execute(ending))
            with pytest.raises(StreamEnded):
                await stream.next()


@pytest.mark.usefixtures("quick_timers")
async def test_a_stream_ends_when_its_token_expires(settings: Settings) -> None:
    async with serve_world(settings) as world:
        sara = await world.person("Sara")
        brief = await world.with_token(sara.id, "Sara", expiresAt=clock.iso(clock.now() + HOUR))
        async with brief.follow() as stream:
            await stream.next()
            clock.advance(HOUR)
            with pytest.raises(StreamEnded):
                await stream.next()


@pytest.mark.usefixtures("quick_timers")
async def test_a_deleted_entity_hears_nothing_more(settings: Settings) -> None:
    async with serve_world(settings) as world:
        sara = await world.person("Sara")
        async with sara.follow() as stream:
            await stream.next()
            await world.owner.ok("DELETE", f"/api/entities/{sara.id}")
            await stream.until_end()
