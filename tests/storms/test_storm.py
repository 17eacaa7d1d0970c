"""A short storm. `make storm` blows for longer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.cli.processes import Commands
from tests.databases import PostgresDatabases
from tests.nats_servers import NatsServer
from tests.storms.network import missing, network
from tests.storms.storm import Storm


@pytest.fixture
def postgres_url(postgres_databases: PostgresDatabases) -> Iterator[str]:
    url = postgres_databases.fresh()
    yield url
    postgres_databases.drop(url)


async def test_nothing_is_lost_doubled_or_stuck_in_a_storm(
    postgres_url: str, commands: Commands, tmp_path: Path
) -> None:
    shared = "MAJLIS_TEST_DATABASE_URL" in os.environ
    with nullcontext(()) if missing() else network(3) as hosts:
        nats = NatsServer(hosts[0].gateway if hosts else "127.0.0.1")
        nats.start()
        try:
            storm = Storm(postgres_url, nats, commands, tmp_path, 1, crashes=not shared, hosts=hosts)
            report = await storm.run(seconds=5, least=6, pace=0.7)
        finally:
            nats.stop()
    assert report.broken == []
    assert report.messages >= 6
    assert report.faults.total() > 0
