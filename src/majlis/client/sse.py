"""Reading Server-Sent Events from chunks of bytes, however they are cut.

Lines end at a line feed and nowhere else: a general "split lines" also cuts at U+2028, which a message may contain.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """`id` is opaque; give it back as the last event id to go on after this event."""

    id: str
    type: str
    data: dict[str, Any]


class EventParser:
    def __init__(self) -> None:
        self._rest = b""
        self._fields: dict[str, str] = {}

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that this chunk completes."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        found = (self._line(line.rstrip(b"\r").decode()) for line in lines)
        return [event for event in found if event is not None]

    def _line(self, line: str) -> Event | None:
        if not line:
            return self._end()
        name, _, value = line.partition(":")
        # A line that begins with a colon is a comment, the server's heartbeat.
        if name:
            value = value.removeprefix(" ")
            known = self._fields.get(name)
            self._fields[name] = value if known is None or name != "data" else f"{known}\n{value}"
        return None

    def _end(self) -> Event | None:
        fields, self._fields = self._fields, {}
        if "data" not in fields:
            return None
        return Event(fields.get("id", ""), fields.get("event", "message"), json.loads(fields["data"]))
