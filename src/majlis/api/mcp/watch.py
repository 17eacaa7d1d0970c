"""A live stream as a tool or a subscription follows it."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from majlis.api.mcp.tool import REPORT_SECONDS, Call
from majlis.entities.caller import Caller
from majlis.entities.tokens import invalid_token
from majlis.live.stream import Stream
from majlis.spaces.access import unknown_space
from majlis.sse import EventParser, ServerEvent

# Written while an agent composes a message, up to 20 times a second.
_EPHEMERAL = frozenset({"tool-input-delta", "tool-call.start", "tool-call.complete", "tool-call.error"})


class Watch:
    """`events` have arrived and were not read yet."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.events: deque[ServerEvent] = deque()
        self.cursor = ""
        self._changed = asyncio.Event()
        self._began = time.monotonic()
        self._is_over = False

    @property
    def ended(self) -> bool:
        """True also if the token or the membership has ended, or the server stops."""
        return self._is_over or self.stream.closed

    def end(self) -> None:
        self._is_over = True

    async def listen(self) -> None:
        parser = EventParser()
        async for chunk in self.stream.chunks():
            found = [event for event in parser.feed(chunk) if event.type not in _EPHEMERAL]
            self.events += found
            if found:
                self._changed.set()
        self._changed.set()

    async def begun(self) -> None:
        """Returns when the stream's first events have arrived, with those missed since the cursor."""
        await self._changed.wait()

    async def next(self, progress: Callable[[float, float], Awaitable[None]], seconds: float) -> bool:
        """Waits for an event. False when `seconds` since the beginning are over."""
        while not self._changed.is_set():
            passed = time.monotonic() - self._began
            if passed >= seconds:
                return False
            await progress(passed, seconds)
            with suppress(TimeoutError):
                async with asyncio.timeout(min(seconds - passed, REPORT_SECONDS)):
                    await self._changed.wait()
        self._changed.clear()
        return True


@asynccontextmanager
async def watching(call: Call, caller: Caller, space_id: str | None, cursor: str | None) -> AsyncIterator[Watch]:
    """The caller's stream over one space or all of them. It ends with the token and the membership."""
    hub = call.gateway.hub
    if space_id is None:
        stream = await hub.open_gateway(caller, cursor, _nothing)
    else:
        stream = await hub.open_space(caller, space_id, None, _nothing)
    if stream is None:
        raise unknown_space(space_id) if space_id is not None else invalid_token()
    watch = Watch(stream)
    listening = asyncio.create_task(watch.listen())
    try:
        await watch.begun()
        yield watch
    finally:
        hub.leave(stream)
        listening.cancel()


async def _nothing() -> str:
    return '{"type":"connected"}'
