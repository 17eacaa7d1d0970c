"""Is there a bus between processes, and does it answer?"""

from __future__ import annotations

import asyncio

from majlis.cli.checks.finding import Finding, ok, problem
from majlis.settings import Settings

_PATIENCE_SECONDS = 5


async def check(settings: Settings) -> Finding:
    if not settings.bus_url:
        return ok("bus", "None is configured: right for one process, and none is needed.")
    from nats.errors import Error as NatsError

    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            version = await _server_version(settings.bus_url)
    except (NatsError, OSError, TimeoutError, ValueError) as error:
        return problem(
            "bus",
            f"NATS does not answer: {str(error).rstrip('.') or 'nobody is there'}.",
            "Start NATS, or check --bus-url. Until then other processes hear of events up to a second late.",
        )
    return ok("bus", f"NATS {version} answers.")


async def _server_version(url: str) -> str:
    import nats
    from nats.errors import NoServersError

    failures: list[Exception] = []

    async def keep(error: Exception) -> None:
        failures.append(error)

    try:
        client = await nats.connect(
            url, connect_timeout=2, max_reconnect_attempts=1, reconnect_time_wait=0, error_cb=keep, name="majlis doctor"
        )
    except NoServersError:
        # What it says in the end is only that there was nobody; the first failure says why.
        raise failures[0] if failures else TimeoutError from None
    version = client.connected_server_version
    await client.close()
    return f"{version.major}.{version.minor}.{version.patch}"
