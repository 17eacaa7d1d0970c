"""One topic as this process follows it: puts events in order, drops repeats, and detects gaps."""

from __future__ import annotations

from dataclasses import dataclass, field

from majlis.live.log import LoggedEvent
from majlis.live.stream import Stream

# The number of events that are kept while an earlier one is missing; the log has them all.
_MAX_EARLY = 1000


@dataclass(slots=True, eq=False)
class Channel:
    """`last` is None until the topic's position has been read from the log."""

    topic: str
    last: int | None = None
    # In the order in which they were opened.
    streams: dict[Stream, None] = field(default_factory=dict)
    _early: dict[int, LoggedEvent] = field(default_factory=dict)

    @property
    def has_gap(self) -> bool:
        return self.last is not None and bool(self._early)

    def take(self, event: LoggedEvent) -> list[LoggedEvent]:
        """The events that are now next in order."""
        is_next = self.last is not None and event.seq == self.last + 1
        if is_next or ((self.last is None or event.seq > self.last) and len(self._early) < _MAX_EARLY):
            self._early[event.seq] = event
        return self._next()

    def start_at(self, seq: int) -> list[LoggedEvent]:
        if self.last is None:
            self.last = seq
        return self._next()

    def skip_to(self, seq: int) -> list[LoggedEvent]:
        self.last = max(seq, self.last or 0)
        return self._next()

    def _next(self) -> list[LoggedEvent]:
        if self.last is None:
            return []
        ready = []
        while (event := self._early.pop(self.last + 1, None)) is not None:
            self.last = event.seq
            ready.append(event)
        if self._early:
            self._early = {seq: event for seq, event in self._early.items() if seq > self.last}
        return ready
