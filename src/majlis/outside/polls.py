"""Long polls that are open in this process: of outside agents for events (D2), of programs for answers (D5)."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator

from majlis.errors import TooMany
from majlis.inbox.wake import WORK
from majlis.live.bus import Bus, Unsubscribe

MAX_POLLS = 20
# A lost wake-up, or an event that becomes due, costs at most this.
_LOOK_SECONDS = 0.5


class Polls:
    def __init__(self, bus: Bus, subject: str = WORK) -> None:
        self._bus = bus
        self._subject = subject
        self._woken: set[asyncio.Event] = set()
        self._counts: Counter[str] = Counter()
        self._unsubscribe: Unsubscribe | None = None
        self.ended = False

    @contextlib.contextmanager
    def open(self, entity_id: str) -> Iterator[asyncio.Event]:
        """The event is set whenever there may be work."""
        if self._counts[entity_id] >= MAX_POLLS:
            raise TooMany(
                "too_many_polls", f"You have {MAX_POLLS} open polls, which is the limit. Use fewer programs.", 5
            )
        if self._unsubscribe is None:
            self._unsubscribe = self._bus.subscribe(self._subject, lambda _: self._wake())
        woken = asyncio.Event()
        self._woken.add(woken)
        self._counts[entity_id] += 1
        try:
            yield woken
        finally:
            self._woken.discard(woken)
            self._counts[entity_id] -= 1
            if not self._counts[entity_id]:
                del self._counts[entity_id]

    async def wait(self, woken: asyncio.Event, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(seconds, _LOOK_SECONDS)):
                await woken.wait()

    def end(self) -> None:
        """The server stops: all polls return at once, without events."""
        self.ended = True
        self._wake()

    def _wake(self) -> None:
        for woken in self._woken:
            woken.set()
