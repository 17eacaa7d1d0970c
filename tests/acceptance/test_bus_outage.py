"""When NATS is down, events still arrive, because each process polls the log."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.acceptance.processes import ServerProcess
from tests.cli.processes import Commands
from tests.databases import PostgresDatabases
from tests.nats_servers import NatsServer


async def test_events_cross_processes_while_nats_is_down(
    commands: Commands, postgres_databases: PostgresDatabases, nats_server: NatsServer, tmp_path: Path
) -> None:
    url = await asyncio.to_thread(postgres_databases.fresh)
    one = await ServerProcess(commands, url, tmp_path, nats_server.url).start()
    two = await ServerProcess(commands, url, tmp_path, nats_server.url).start()
    here, there = await one.owner(), await two.owner()
    space = await here.create_space()
    async with there.follow(space) as stream:
        await stream.next()
        await here.say(space, "by NATS")
        await stream.until_message("by NATS")
        nats_server.stop()
        await here.say(space, "by polling")
        await stream.until_message("by polling")
        health = await here.get("/api/health")
        assert (health.status_code, health.json()["status"]) == (200, "degraded")
        [degraded] = health.json()["degraded"]
        assert degraded["part"] == "bus"
        assert "NATS" in degraded["reason"]
        assert (await here.get("/api/health/ready")).status_code == 200
        nats_server.start()
        await here.say(space, "back again")
        await stream.until_message("back again")
    for owner, server in ((here, one), (there, two)):
        await owner.http.aclose()
        assert await server.stop() == 0
