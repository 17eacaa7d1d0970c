"""Signs of life for every open stream, and the end of those whose time is over. Apart from the polling of the log: a
database that takes its time must not silence a stream."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from time import monotonic

from majlis import clock
from majlis.live.stream import Stream

_LOOK_SECONDS = 1.0
_BEAT_SECONDS = 10.0


async def beat_forever(streams: Collection[Stream]) -> None:
    beaten_at = monotonic()
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        _end_expired(streams)
        if monotonic() - beaten_at >= _BEAT_SECONDS:
            beaten_at = monotonic()
            for stream in tuple(streams):
                stream.beat()


def _end_expired(streams: Collection[Stream]) -> None:
    now = clock.now()
    for stream in tuple(streams):
        if stream.caller.expires_at is not None and stream.caller.expires_at <= now:
            stream.close()
