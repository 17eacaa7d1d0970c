"""Waiting for work that is not to be broken off: whoever is canceled meanwhile first learns how it ended."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TypeVar

T = TypeVar("T")


async def unbroken(work: asyncio.Future[T]) -> T:
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        # There may be more than one: from the bus, from a worker that looks for itself, from who closes everything.
        while not work.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([work])
        if not work.cancelled():
            work.exception()  # looked at, so that nobody warns of it
        raise
