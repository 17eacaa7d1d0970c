"""One topic as this process follows it: puts events in order, passes each on once, and notices holes."""

from __future__ import annotations

from collections.abc import Callable

from majlis.live.log import LoggedEvent
from majlis.live.stream import Stream

# More events than this waiting for an earlier one: something was lost on the way, and the log will tell.
_MAX_EARLY = 1000


class Channel:
    """`last` is None until the log has been asked where the topic stands."""

    __slots__ = ("_early", "_hole", "_passed", "last", "streams", "topic")

    def __init__(
        self, topic: str, hole: Callable[[Channel], None], passed: Callable[[Channel, LoggedEvent], None]
    ) -> None:
        self.topic = topic
        self.last: int | None = None
        self.streams: set[Stream] = set()
        self._early: dict[int, LoggedEvent] = {}
        self._hole = hole
        self._passed = passed

    def start_at(self, head: int) -> None:
        if self.last is None:
            self.last = head
            self._pass_on_early()

    def take(self, event: LoggedEvent) -> None:
        if self.last is not None and event.seq == self.last + 1:
            self._pass_on(event)
            self._pass_on_early()
        elif self.last is None or event.seq > self.last:
            if len(self._early) < _MAX_EARLY:
                self._early[event.seq] = event
            if self.last is not None:
                self._hole(self)

    def skip_to(self, seq: int) -> None:
        """The log no longer has what lies between: its streams have been told to start afresh."""
        if self.last is None or seq > self.last:
            self.last = seq
        self._pass_on_early()

    def _pass_on_early(self) -> None:
        assert self.last is not None
        for seq in [seq for seq in self._early if seq <= (self.last or 0)]:
            del self._early[seq]
        while (event := self._early.pop(self.last + 1, None)) is not None:
            self._pass_on(event)

    def _pass_on(self, event: LoggedEvent) -> None:
        self.last = event.seq
        for stream in tuple(self.streams):
            stream.offer(event)
        self._passed(self, event)
