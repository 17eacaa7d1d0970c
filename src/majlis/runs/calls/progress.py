"""Progress lines of a visible tool: ephemeral, the latest line only, at most 20 times a second. Thread-safe."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from majlis.runs.calls.result import clean
from majlis.runs.loop.deltas import Channel

_EVERY_SECONDS = 0.05
_MAX_CHARACTERS = 500


class Progress:
    """The progress of one call in one space. `about` is sent with every line."""

    def __init__(self, channel: Channel, space_id: str, about: dict[str, Any]) -> None:
        self.space_id = space_id
        self._channel = channel
        self._about = {"spaceId": space_id, **about}
        self._loop = asyncio.get_running_loop()
        self._line = ""
        self._due = False
        self._last = 0.0
        self._over = False

    def tell(self, text: str) -> None:
        self._line = clean(str(text)[:_MAX_CHARACTERS])
        if not self._due and not self._over:
            self._due = True
            # The event loop may have closed already.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._plan)

    def end(self) -> None:
        self._over = True

    def _plan(self) -> None:
        wait = self._last + _EVERY_SECONDS - self._loop.time()
        if wait > 0:
            self._loop.call_later(wait, self._send)
        else:
            self._send()

    def _send(self) -> None:
        self._due = False
        self._last = self._loop.time()
        if not self._over:
            self._channel.publish_ephemeral(self.space_id, "tool-call.progress", {**self._about, "text": self._line})
