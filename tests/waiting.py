"""Waiting for a condition that has no event of its own: yields to the loop until it holds, within patience."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

PATIENCE_SECONDS = 20


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():  # noqa: ASYNC110 - these are states of other processes and libraries, with nothing to await
            await asyncio.sleep(0.001)
