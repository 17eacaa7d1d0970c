"""What `majlis serve` loads before it answers. Each package that it does not need makes its start slower."""

from __future__ import annotations

import os
import signal
import sys
from asyncio import create_subprocess_exec, timeout
from asyncio.subprocess import PIPE

import httpx

from majlis.gateway import open_gateway
from majlis.settings import Settings

# Prints the loaded modules at the end.
SERVE = "import atexit, sys; from majlis.cli.main import run; atexit.register(lambda: print(*sys.modules)); run()"
# Loaded by the first request, run, upload, sign-in or setting that needs them.
WAITING = {
    "alembic", "anthropic", "asyncpg", "authlib", "genai_prices", "httpx2", "joserfc", "mcp", "nats", "obstore",
    "openai", "opentelemetry.sdk", "PIL", "pydantic_ai", "pypdf", "yaml",
}  # fmt: skip


async def test_a_server_that_answers_has_loaded_no_package_that_can_wait(settings: Settings) -> None:
    # The database is up to date, and no agent is at work.
    gateway = await open_gateway(settings)
    await gateway.db.close()
    loaded = await _loaded_by_a_server(settings)
    assert {"fastapi", "majlis.runs.worker"} <= loaded
    waiting = WAITING | {"psycopg"} if settings.embedded else WAITING
    assert waiting & loaded == set()


async def _loaded_by_a_server(settings: Settings) -> set[str]:
    given = {"MAJLIS_DEMO": "false", "MAJLIS_LOG_LEVEL": "error", "PYTHONUNBUFFERED": "1"}
    where = ["--port", "0", "--data-dir", str(settings.data_dir), "--database-url", settings.database]
    process = await create_subprocess_exec(
        sys.executable, "-c", SERVE, "serve", *where, cwd=settings.data_dir, env=os.environ | given, stdout=PIPE
    )
    try:
        assert process.stdout is not None
        async with timeout(120):
            line = (await process.stdout.readline()).decode()
            async with httpx.AsyncClient(base_url=line.split()[-1]) as http:
                assert (await http.get("/api/health")).json()["status"] == "ok"
            process.send_signal(signal.SIGTERM)
            *_, last = (await process.stdout.read()).decode().splitlines()
            assert await process.wait() == 0
            return set(last.split())
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
