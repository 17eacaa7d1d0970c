"""`python -m bench.resident URL FOLDER`: a gateway in a fresh process, started and left alone for a while; then its
resident memory in bytes and the number of its tasks, as JSON."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
from pathlib import Path

from bench.gateways import new_runner
from majlis.gateway import open_gateway
from majlis.logs import set_up_logging
from majlis.settings import Settings

# The worker looks every second.
_SECONDS = 2.5


def main(url: str, folder: str) -> None:
    settings = Settings(database_url=url, data_dir=Path(folder), port=0, demo=False, log_level="warning")
    set_up_logging(settings)
    with new_runner() as runner:
        print(json.dumps(runner.run(_rest(settings))))


async def _rest(settings: Settings) -> dict[str, int]:
    gateway = await open_gateway(settings)
    await gateway.start()
    try:
        await asyncio.sleep(_SECONDS)
        gc.collect()
        return {"resident": _resident(), "tasks": len(asyncio.all_tasks()) - 1}
    finally:
        await gateway.close()


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main(*sys.argv[1:])
