"""Where a live stream stands and what happens when it breaks. Both clients drive one of these over their own HTTP.

It reconnects for ever: after a broken connection, a server that is away, or too many requests. Only an answer that
another try cannot change ends it: no such token any more (401), no such space for this caller any more (404).
"""

from __future__ import annotations

import httpx

from majlis.client import wire
from majlis.client.transport import unexpected
from majlis.client.patience import backoff
from majlis.client.sse import Event, EventParser
from majlis.errors import MajlisError, TooMany, Unavailable

# The server sends a sign of life at least every 15 seconds; three missed ones mean that nobody is there.
TIMEOUT = httpx.Timeout(10, read=45)


class Following:
    def __init__(self, space_id: str | None = None, last_event_id: str | None = None) -> None:
        self.path = wire.at("events") if space_id is None else wire.at("spaces", space_id, "events")
        self.last_event_id = last_event_id
        self.pause = 0.0
        self._failures = 0
        self._parser = EventParser()

    def headers(self) -> dict[str, str]:
        return {"Last-Event-ID": self.last_event_id} if self.last_event_id else {}

    def begin(self, response: httpx.Response) -> None:
        """A new connection: half an event from the one before is worth nothing."""
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            raise unexpected(response)
        self._parser = EventParser()

    def read(self, chunk: bytes) -> list[Event]:
        events = self._parser.feed(chunk)
        if events:
            self._failures = 0
            self.last_event_id = events[-1].id or self.last_event_id
        return events

    def broken(self, error: MajlisError) -> Event:
        """What the caller is told before the next try in `pause` seconds; raises what no other try can change."""
        if not isinstance(error, (Unavailable, TooMany)) and error.status < 500:
            raise error
        wait = backoff(self._failures)
        self.pause = max(wait, error.retry_after) if isinstance(error, TooMany) else wait
        self._failures += 1
        data = {"type": "disconnected", "reason": error.message, "retryInSeconds": round(self.pause, 3)}
        return Event(self.last_event_id or "", "disconnected", data)


def ended() -> Unavailable:
    return Unavailable("stream_ended", "The server ended the stream.")
