"""`--wait`: a server that starts before its PostgreSQL waits for it, and says so."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import sqlalchemy as sa
import structlog

from majlis import foundation
from majlis.errors import ConfigurationError
from majlis.foundation import prepare_foundation
from majlis.settings import Settings
from tests.conditions import until
from tests.database_proxy import DatabaseProxy

pytestmark = pytest.mark.parametrize("engine", ["postgresql"])


async def test_a_gateway_waits_until_the_database_answers(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foundation, "_WAIT_SECONDS", 0.01)
    async with DatabaseProxy(database_url) as proxy:
        proxy.cut()
        settings = Settings(database_url=proxy.url, data_dir=tmp_path, port=0)
        with pytest.raises(ConfigurationError, match="Cannot open the database"):
            await prepare_foundation(settings)
        with structlog.testing.capture_logs() as logs:
            waiting = asyncio.create_task(prepare_foundation(settings, wait=True))
            await until(lambda: proxy.refused > 3)
            assert not waiting.done()
            proxy.restore()
            found = await waiting
        assert [each["event"] for each in logs] == ["waiting for the database", "the database is ready"]
        await found.db.close()


async def test_a_fault_that_does_not_pass_is_not_waited_for(database_url: str, tmp_path: Path) -> None:
    missing = sa.make_url(database_url).set(database="not_there").render_as_string(hide_password=False)
    settings = Settings(database_url=missing, data_dir=tmp_path, port=0)
    async with asyncio.timeout(30):
        with pytest.raises(ConfigurationError, match="not_there"):
            await prepare_foundation(settings, wait=True)
