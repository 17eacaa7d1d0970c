"""The state of a live stream across reconnects. Both clients drive one over their own HTTP.

It reconnects after a lost connection, an unavailable server or a 429. It ends only with an error that a retry cannot
fix: the token is no longer valid (401) or the caller can no longer see the space (404).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import httpx

from majlis.client import wire
from majlis.client.transport import backoff, unexpected
from majlis.errors import MajlisError, TooMany, Unavailable
from majlis.sse import EventParser

# The server sends a heartbeat at least every 15 seconds; three missed ones mean that the connection is lost.
TIMEOUT = httpx.Timeout(10, read=45)
ENDED = Unavailable("stream_ended", "The server ended the stream.")


@dataclass(frozen=True, slots=True)
class Event:
    """`id` is opaque. Pass it as the last event id to continue after this event."""

    id: str
    type: str
    data: dict[str, Any]


class Following:
    def __init__(self, space_id: str | None = None, last_event_id: str | None = None) -> None:
        self.path = wire.at("events") if space_id is None else wire.at("spaces", space_id, "events")
        self.last_event_id = last_event_id
        self.delay = 0.0
        self._failures = 0
        self._parser = EventParser()

    def headers(self) -> dict[str, str]:
        return {"Last-Event-ID": self.last_event_id} if self.last_event_id else {}

    def begin(self, response: httpx.Response) -> None:
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            raise unexpected(response)
        # Drops an unfinished event of the previous connection.
        self._parser = EventParser()

    def read(self, chunk: bytes) -> list[Event]:
        events = [Event(found.id, found.type, json.loads(found.data)) for found in self._parser.feed(chunk)]
        if events:
            self._failures = 0
            self.last_event_id = events[-1].id or self.last_event_id
        return events

    def broken(self, error: MajlisError) -> Event:
        """Sets `delay` and returns the event for the caller. Raises an error that a retry cannot fix."""
        if not isinstance(error, (Unavailable, TooMany)) and error.status < 500:
            raise error
        self.delay = max(backoff(self._failures), error.retry_after if isinstance(error, TooMany) else 0)
        self._failures += 1
        data = {"type": "disconnected", "reason": error.message, "retryInSeconds": round(self.delay, 3)}
        return Event(self.last_event_id or "", "disconnected", data)
