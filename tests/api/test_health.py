"""Health: a gateway whose database cannot be written is not healthy, although it can be read."""

from __future__ import annotations

from contextlib import suppress

import pytest
import sqlalchemy as sa

from majlis.api.routes import health
from majlis.backup.status import LAST_BACKUP
from majlis.store.postgres import PostgresDatabase
from majlis.store.tables import gateway
from majlis.store.transactions import Database, Tx
from tests.world import World


async def test_health_and_readiness_fail_while_the_database_cannot_be_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "_PROBE_SECONDS", 0.0)
    assert (await world.owner.ok("GET", "/api/health"))["status"] == "ok"
    await _refuse_writes(world.gateway.db, True)
    for path in ("/api/health", "/api/health/ready"):
        refused = await world.owner.get(path)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "unhealthy")
        assert "cannot be written" in refused.json()["error"]["message"]
    assert (await world.owner.ok("GET", "/api/health/live")) == {"status": "ok"}
    await _refuse_writes(world.gateway.db, False)
    assert (await world.owner.ok("GET", "/api/health"))["status"] == "ok"
    assert (await world.owner.ok("GET", "/api/health/ready")) == {"status": "ok"}


async def test_many_health_checks_write_once(world: World) -> None:
    written = sa.text("SELECT value FROM gateway WHERE key = 'last_write_probe'")
    await world.owner.ok("GET", "/api/health")
    first = await world.gateway.db.read(lambda tx: tx.execute(written).scalar_one())
    for _ in range(5):
        await world.owner.ok("GET", "/api/health")
    assert await world.gateway.db.read(lambda tx: tx.execute(written).scalar_one()) == first


async def _refuse_writes(db: Database, refuse: bool) -> None:
    """Both engines refuse a write themselves, as they do if the disk is full."""
    if isinstance(db, PostgresDatabase):

        def alter(tx: Tx) -> None:
            tx.execute(sa.text("SET TRANSACTION READ WRITE"))
            name = tx.execute(sa.text("SELECT current_database()")).scalar_one()
            tx.execute(sa.text(f'ALTER DATABASE "{name}" SET default_transaction_read_only = {refuse}'))

        await db.write(alter)
        # For new connections.
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
        with suppress(sa.exc.DBAPIError):
            await db.read(lambda tx: tx.execute(sa.text(others)))
    else:
        made = "CREATE TRIGGER refuse BEFORE INSERT ON gateway BEGIN SELECT RAISE(ABORT, 'full'); END"
        await db.write(lambda tx: tx.execute(sa.text("DELETE FROM gateway WHERE key = 'last_write_probe'")))
        await db.write(lambda tx: tx.execute(sa.text(made if refuse else "DROP TRIGGER refuse")))


async def test_administrators_see_when_the_last_backup_was_made(world: World) -> None:
    sara = await world.person("Sara")
    assert (await world.owner.ok("GET", "/api/system"))["lastBackupAt"] is None
    await world.gateway.db.write(_remember_backup)
    system = await world.owner.ok("GET", "/api/system")
    assert system["lastBackupAt"].startswith("20")
    assert system["database"] == world.gateway.db.dialect
    assert (await sara.get("/api/system")).status_code == 403


def _remember_backup(tx: Tx) -> None:
    tx.execute(gateway.insert(), {"key": LAST_BACKUP, "value": str(tx.now)})
