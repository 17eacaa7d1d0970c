"""Waits for work that must not be interrupted."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TypeVar

T = TypeVar("T")


async def unbroken(work: asyncio.Future[T]) -> T:
    """Finishes even if cancelled; cancellation is re-raised afterwards."""
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        # There may be several cancellations: by the bus, by the worker's polling, by a shutdown.
        while not work.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([work])
        if not work.cancelled():
            work.exception()  # retrieved, so that asyncio does not warn
        raise
