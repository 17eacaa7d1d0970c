"""Waits until a condition holds, for conditions that have no event."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable

PATIENCE_SECONDS = 60
_FIRST_PAUSE, _LONGEST_PAUSE = 0.001, 0.016


async def until(holds: Callable[[], object | Awaitable[object]], patience: float = PATIENCE_SECONDS) -> None:
    pause = _FIRST_PAUSE
    async with asyncio.timeout(patience):
        while not await _told(holds()):
            await asyncio.sleep(pause)
            # Polling takes CPU time from the process under test.
            pause = min(2 * pause, _LONGEST_PAUSE)


async def _told(answer: object | Awaitable[object]) -> object:
    return await answer if inspect.isawaitable(answer) else answer
