"""The topics that this process follows, with their shards of the bus. Events that the bus has lost are read from the
log."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import orjson

from majlis.live import log
from majlis.live.bus import Bus, Unsubscribe, shard_of
from majlis.live.channel import Channel
from majlis.live.log import LoggedEvent
from majlis.live.replay import REPLAY_LIMIT
from majlis.live.stream import RESYNC, Stream
from majlis.store.transactions import Database

# Only for streams that asked for presence: older clients do not know it.
TYPING = "space.typing"


class Channels:
    """`moved` is called after an event about a member that joined or left a space; `spawn` starts a task."""

    def __init__(
        self,
        db: Database,
        bus: Bus,
        moved: Callable[[Channel, LoggedEvent], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._db = db
        self._bus = bus
        self._moved = moved
        self._spawn = spawn
        self.by_topic: dict[str, Channel] = {}
        self._shards: dict[str, tuple[int, Unsubscribe]] = {}
        self._filling: set[str] = set()

    def attach(self, stream: Stream, topic: str) -> None:
        channel = self.by_topic.get(topic)
        if channel is None:
            channel = self.by_topic[topic] = Channel(topic)
            shard = shard_of(topic)
            count, unsubscribe = self._shards.get(shard, (0, None))
            self._shards[shard] = (count + 1, unsubscribe or self._bus.subscribe(shard, self._on_event))
        channel.streams[stream] = None
        stream.held.setdefault(topic, [])

    def detach(self, stream: Stream, topic: str) -> None:
        stream.forget(topic)
        channel = self.by_topic.get(topic)
        if channel is None:
            return
        channel.streams.pop(stream, None)
        if channel.streams:
            return
        del self.by_topic[topic]
        count, unsubscribe = self._shards.pop(shard_of(topic))
        if count > 1:
            self._shards[shard_of(topic)] = (count - 1, unsubscribe)
        else:
            unsubscribe()

    def pass_on(self, channel: Channel, events: list[LoggedEvent]) -> None:
        for event in events:
            for stream in tuple(channel.streams):
                stream.offer(event)
            if event.type in ("space.member.joined", "space.member.left"):
                self._moved(channel, event)

    def fill(self, channel: Channel) -> None:
        if channel.topic not in self._filling:
            self._filling.add(channel.topic)
            self._spawn(self._fill_gap(channel))

    async def compare(self, heads: Mapping[str, int]) -> None:
        """Fills the channels that are behind the log."""
        for topic, head in heads.items():
            channel = self.by_topic.get(topic)
            if channel is not None and channel.last is not None and channel.last < head:
                self._filling.add(topic)
                await self._fill_gap(channel)

    def _on_event(self, payload: bytes) -> None:
        event = orjson.loads(payload)
        channel = self.by_topic.get(event["t"])
        if channel is None:
            return
        if "s" in event:
            self._take(channel, LoggedEvent(event["t"], event["s"], event["k"], event["d"], event["a"]))
            return
        for stream in tuple(channel.streams):
            if event["k"] != TYPING or stream.presence:
                stream.pass_on(event["k"], event["d"])

    def _take(self, channel: Channel, event: LoggedEvent) -> None:
        self.pass_on(channel, channel.take(event))
        if channel.has_gap:
            self.fill(channel)

    async def _fill_gap(self, channel: Channel) -> None:
        """Reads missing events from the log. If the log no longer has them, the streams must resync."""
        try:
            head = (await self._db.read(log.heads, [channel.topic])).get(channel.topic)
            last = channel.last
            if head is None or last is None or head <= last:
                return
            few = head - last <= REPLAY_LIMIT
            found = await self._db.read(log.read_events, channel.topic, last, head) if few else []
            if len(found) == head - last:
                for event in found:
                    self._take(channel, event)
                return
            for stream in tuple(channel.streams):
                stream.position[channel.topic] = head
                stream.pass_on(*RESYNC)
            self.pass_on(channel, channel.skip_to(head))
        finally:
            self._filling.discard(channel.topic)
