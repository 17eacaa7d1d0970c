"""One client's stream: its topics, its position in each, and a bounded queue of outgoing bytes.

A client that does not keep up is disconnected: it reconnects with its last event id and catches up from the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Protocol

import orjson

from majlis.live.cursor import OVERLAP_MILLIS, GatewayCursor, SpaceCursor, tag
from majlis.live.log import LoggedEvent

MAX_QUEUED_BYTES = 1024 * 1024
MAX_QUEUED_EVENTS = 1000
HEARTBEAT = b": heartbeat\n\n"
RESYNC = "resync", '{"type":"resync"}'


class Listener(Protocol):
    """The owner of a stream, and the token it was opened with."""

    @property
    def id(self) -> str: ...
    @property
    def token_id(self) -> str: ...
    @property
    def expires_at(self) -> int | None: ...


@dataclass(slots=True, eq=False)
class Stream:
    """`space` is None for a stream over all of the caller's spaces."""

    caller: Listener
    space: str | None
    # All events logged before this time have reached this process (for the cursor over all spaces).
    verified_at: Callable[[], int]
    # Its owner is online while it is open, and it is told who else is and who types.
    presence: bool = False
    position: dict[str, int] = field(default_factory=dict)
    moved_at: dict[str, int] = field(default_factory=dict)
    # Topics that are being caught up from the log, with the events that arrive meanwhile.
    held: dict[str, list[LoggedEvent]] = field(default_factory=dict)
    # Spaces joined before the stream began, with the number of the event.
    joining: list[tuple[str, int]] = field(default_factory=list)
    closed: bool = False
    cut_off: Callable[[], None] | None = None
    _queue: list[bytes] = field(default_factory=list)
    _count: int = 0
    _queued: int = 0
    _waiter: asyncio.Future[None] | None = None
    # Unlogged events that arrived before the stream began.
    _early: list[tuple[str, str]] | None = field(default_factory=list)

    @property
    def has_begun(self) -> bool:
        return self._early is None

    def offer(self, event: LoggedEvent) -> None:
        """The next event of a topic. Events up to the stream's position are skipped."""
        if event.topic in self.held:
            self.held[event.topic].append(event)
        elif event.seq > self.position.get(event.topic, 0):
            self.position[event.topic] = event.seq
            self.moved_at[event.topic] = event.at
            if self._concerns(event):
                self.send(event.type, event.data)

    def release(self, topic: str) -> None:
        for event in self.held.pop(topic, []):
            self.offer(event)

    def forget(self, topic: str) -> None:
        self.held.pop(topic, None)
        self.position.pop(topic, None)
        self.moved_at.pop(topic, None)

    def replay(self, events: list[LoggedEvent]) -> None:
        """Missed events. They were limited when they were read, so they do not count towards the queue's limits."""
        for event in events:
            self._count = self._queued = 0
            self.offer(event)
        self._count = self._queued = 0

    def send(self, type: str, data: str) -> None:
        self._push(f"id: {self._cursor()}\nevent: {type}\ndata: {data}\n\n".encode())

    def pass_on(self, type: str, data: str) -> None:
        """An unlogged event. It waits until the stream has begun, since `connected` comes first."""
        if self._early is None:
            self.send(type, data)
        else:
            self._early.append((type, data))

    def begun(self) -> None:
        early, self._early = self._early or [], None
        for each in early:
            self.send(*each)

    def beat(self) -> None:
        if not self._queue:
            self._push(HEARTBEAT)

    def close(self) -> None:
        """Ends the stream after the queued events."""
        self.closed = True
        self._wake()

    async def chunks(self) -> AsyncIterator[bytes]:
        while True:
            if self._queue:
                chunk = b"".join(self._queue)
                self._queue.clear()
                self._count = self._queued = 0
                yield chunk
            elif self.closed:
                return
            else:
                self._waiter = asyncio.get_running_loop().create_future()
                await self._waiter

    def _concerns(self, event: LoggedEvent) -> bool:
        """A stream over one space shows the caller's read position there, and no other notices. A stream over all
        spaces shows all notices, and so skips the spaces' copies of the caller's own joining and leaving."""
        own_notice = event.topic == self.caller.id
        if self.space is not None:
            return not own_notice or (event.type == "space.read" and orjson.loads(event.data)["spaceId"] == self.space)
        if own_notice or event.type not in ("space.member.joined", "space.member.left"):
            return True
        return bool(orjson.loads(event.data)["entityId"] != self.caller.id)

    def _cursor(self) -> str:
        own = self.position.get(self.caller.id, 0)
        if self.space is not None:
            return SpaceCursor(self.space, self.position.get(self.space, 0), own).encode()
        at = self.verified_at()
        for topic in [topic for topic, moved in self.moved_at.items() if moved <= at - OVERLAP_MILLIS]:
            del self.moved_at[topic]
        recent = {tag(topic): self.position[topic] for topic in self.moved_at if topic != self.caller.id}
        return GatewayCursor(self.caller.id, at, own, recent).encode()

    def _push(self, chunk: bytes) -> None:
        if self.closed:
            return
        # A single chunk may exceed the limit: it would exceed it again after a reconnect.
        if self._count >= MAX_QUEUED_EVENTS or (self._queued and self._queued + len(chunk) > MAX_QUEUED_BYTES):
            self._cut()
            return
        self._queue.append(chunk)
        self._count += 1
        self._queued += len(chunk)
        self._wake()

    def _cut(self) -> None:
        self._queue.clear()
        self.closed = True
        self._wake()
        if self.cut_off is not None:
            self.cut_off()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
