"""Waiting for a condition that has no event of its own: yields to the loop until it holds, within patience."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable

PATIENCE_SECONDS = 20


async def until(holds: Callable[[], object | Awaitable[object]]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await _told(holds()):  # noqa: ASYNC110 - states of other processes, libraries and tables
            await asyncio.sleep(0.001)


async def _told(answer: object | Awaitable[object]) -> object:
    return await answer if inspect.isawaitable(answer) else answer
