"""The hub of one process: streams to clients on one side, the log and the bus on the other.

Opening a stream subscribes first and reads the log second, so nothing falls between. Events reach a channel from
this process's own commits and from the bus; a hole, or a slow poll of the log every second, makes up for whatever
did not arrive. Leaving a space, or the end of a token, ends what it opened at once.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from secrets import token_hex
from typing import Any, Protocol
from zlib import crc32

import orjson
import structlog

from majlis import clock
from majlis.live import log
from majlis.live.bus import Bus, Unsubscribe
from majlis.live.channel import Channel
from majlis.live.cursor import parse_gateway_cursor, parse_space_cursor
from majlis.live.keepalive import beat_forever
from majlis.live.log import LoggedEvent, Signal, TokenEnded
from majlis.live.replay import (
    REPLAY_LIMIT,
    Start,
    is_member,
    start_gateway_stream,
    start_space_stream,
    valid_tokens,
)
from majlis.live.stream import Listener, Stream
from majlis.store.transactions import Database

_SHARDS = 64
_POLL_SECONDS = 1.0
_LOOK_AT_TOKENS_EVERY = 10
_CONTROL = "control"
_TELL_AT_ONCE = 1000
_logger = structlog.get_logger(__name__)

Hello = Callable[[], Awaitable[str]]


class Spoken(Protocol):
    """A message that an agent of this process is writing at this moment."""

    id: str
    space_id: str
    agent_id: str
    text: str

    def tell_again(self) -> None: ...


class Hub:
    def __init__(self, db: Database, bus: Bus, kept_millis: int) -> None:
        self._db = db
        self._bus = bus
        self._kept = kept_millis
        self._channels: dict[str, Channel] = {}
        self._shards: dict[str, tuple[int, Unsubscribe]] = {}
        self._streams: set[Stream] = set()
        self._filling: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._verified_at = clock.now()
        self._stop_control: Unsubscribe | None = None
        self._name = token_hex(8)
        self._spoken: dict[str, dict[str, Spoken]] = {}
        self._timers: list[asyncio.Task[None]] = []

    @property
    def open_streams(self) -> int:
        return len(self._streams)

    async def start(self) -> None:
        self._db.after_commit = self.publish
        self._stop_control = self._bus.subscribe(_CONTROL, self._on_control)
        self._timers = [
            asyncio.create_task(self._poll_forever(), name="live-poll"),
            asyncio.create_task(beat_forever(self._streams), name="live-beat"),
        ]

    async def close(self) -> None:
        self.end_streams()
        if self._stop_control is not None:
            self._stop_control()
        for task in (*self._timers, *self._tasks):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def end_streams(self) -> None:
        """For a graceful stop: clients come back to another process with their last id."""
        for stream in tuple(self._streams):
            stream.close()

    def publish(self, outbox: Sequence[object]) -> None:
        """After commit: what a transaction left in its outbox goes to everyone who follows it."""
        for item in outbox:
            if isinstance(item, LoggedEvent):
                self._bus.publish(_shard(item.topic), _pack(item))
            elif isinstance(item, TokenEnded):
                self._bus.publish(_CONTROL, orjson.dumps({"ended": item.token_id}))
            elif isinstance(item, Signal):
                self._bus.publish(item.subject, item.payload)

    def publish_ephemeral(self, topic: str, type: str, data: dict[str, Any]) -> None:
        """To whoever is connected now. It is in no log and comes back after no reconnect."""
        if self._bus.kind == "in-process" and topic not in self._channels:
            return
        payload = {"t": topic, "k": type, "d": orjson.dumps({"type": type, **data}).decode()}
        self._bus.publish(_shard(topic), orjson.dumps(payload))

    def stream_began(self, stream: Spoken) -> None:
        self._spoken.setdefault(stream.space_id, {})[stream.id] = stream

    def stream_ended(self, stream: Spoken) -> None:
        streams = self._spoken.get(stream.space_id, {})
        streams.pop(stream.id, None)
        if not streams:
            self._spoken.pop(stream.space_id, None)

    def spoken_in(self, space_ids: Iterable[str]) -> list[dict[str, str]]:
        """What is being written now, by agents of this process. Those of others are asked to say it again."""
        wanted = list(space_ids)
        if self._bus.kind != "in-process" and wanted:
            self._bus.publish(_CONTROL, orjson.dumps({"tell": wanted[:_TELL_AT_ONCE], "to": self._name}))
        return [
            {"streamId": stream.id, "text": stream.text, "spaceId": space, "agentId": stream.agent_id}
            for space in wanted
            for stream in self._spoken.get(space, {}).values()
        ]

    async def open_space(self, caller: Listener, space_id: str, last_id: str | None, hello: Hello) -> Stream | None:
        """None when the caller may not follow this space. `hello` reads the data of the `connected` event
        once the stream follows: what happens meanwhile comes after it, and does not fall between."""
        cursor = parse_space_cursor(last_id, space_id) if last_id else None
        stream = Stream(caller, space_id, lambda: self._verified_at)

        async def start() -> Start | None:
            return await self._db.snapshot(start_space_stream, caller, space_id, cursor, last_id is not None)

        return await self._open(stream, [space_id, caller.id], start, hello)

    async def open_gateway(self, caller: Listener, last_id: str | None, hello: Hello) -> Stream | None:
        cursor = parse_gateway_cursor(last_id, caller.id) if last_id else None
        stream = Stream(caller, None, lambda: self._verified_at)

        async def start() -> Start | None:
            return await self._db.snapshot(start_gateway_stream, caller, cursor, last_id is not None, self._kept)

        return await self._open(stream, [caller.id], start, hello)

    def leave(self, stream: Stream) -> None:
        """The client has gone."""
        stream.close()
        self._streams.discard(stream)
        for topic in [*stream.position, *stream.held]:
            self._detach(stream, topic)

    async def _open(
        self, stream: Stream, topics: list[str], start: Callable[[], Coroutine[Any, Any, Start | None]], hello: Hello
    ) -> Stream | None:
        self._streams.add(stream)
        for topic in topics:
            self._attach(stream, topic)
        try:
            begin = await start()
            if begin is None:
                self.leave(stream)
                return None
            # Spaces that only the snapshot told of: subscribe, then look once more, so that nothing falls between.
            for topic in begin.heads.keys() - set(topics):
                self._attach(stream, topic)
            self._begin(stream, begin, await hello())
            await self._catch_up(stream, list(begin.heads))
            while stream.joining:
                await self._follow(stream, *stream.joining.pop(0))
        except BaseException:
            self.leave(stream)
            raise
        return stream

    def _begin(self, stream: Stream, begin: Start, hello: str) -> None:
        # A space that was left while we were reading is followed no more, though the snapshot knows it.
        held, stream.held = stream.held, {}
        stream.position.update({topic: seq for topic, seq in begin.positions.items() if topic in held})
        stream.moved_at.update({topic: at for topic, at in (begin.moved_at or {}).items() if topic in held})
        stream.send("connected", hello)
        if begin.resync:
            stream.send("resync", '{"type":"resync"}')
        stream.replay([event for event in begin.missed if event.topic in held])
        stream.begun()
        stream.held = held
        for topic in begin.heads.keys() & held.keys():
            self._channels[topic].start_at(begin.heads[topic])

    async def _catch_up(self, stream: Stream, topics: list[str]) -> None:
        """Bring the stream to where the channels are, then let it run with them."""
        heads = await self._db.read(log.heads, topics)
        for topic in topics:
            channel = self._channels.get(topic)
            # Left while we were reading: what is said there is for this one no more.
            if channel is None or stream.closed or topic not in stream.held:
                continue
            channel.start_at(stream.position.get(topic, 0))
            target = max(heads.get(topic, 0), channel.last or 0)
            if stream.position.get(topic, 0) < target:
                await self._read_missing(stream, topic, target)
            if topic in heads and (channel.last or 0) < heads[topic]:
                self._fill(channel)
            stream.release(topic)

    async def _read_missing(self, stream: Stream, topic: str, target: int) -> None:
        after = stream.position.get(topic, 0)
        found = await self._db.read(log.read_events, topic, after, target)
        if topic not in stream.held:
            return
        held = stream.held.pop(topic)
        if len(found) == target - after:
            stream.replay(found)
        else:
            stream.position[topic] = target
            stream.send("resync", '{"type":"resync"}')
        stream.held[topic] = held

    def _attach(self, stream: Stream, topic: str) -> None:
        channel = self._channels.get(topic)
        if channel is None:
            channel = self._channels[topic] = Channel(topic, self._fill, self._passed)
            self._subscribe(_shard(topic))
        channel.streams.add(stream)
        stream.held.setdefault(topic, [])

    def _detach(self, stream: Stream, topic: str) -> None:
        stream.forget(topic)
        channel = self._channels.get(topic)
        if channel is None:
            return
        channel.streams.discard(stream)
        if not channel.streams:
            del self._channels[topic]
            self._unsubscribe(_shard(topic))

    def _subscribe(self, shard: str) -> None:
        count, unsubscribe = self._shards.get(shard, (0, None))
        self._shards[shard] = (count + 1, unsubscribe or self._bus.subscribe(shard, self._on_event))

    def _unsubscribe(self, shard: str) -> None:
        count, unsubscribe = self._shards.pop(shard)
        if count > 1:
            self._shards[shard] = (count - 1, unsubscribe)
        else:
            unsubscribe()

    def _on_event(self, payload: bytes) -> None:
        event = orjson.loads(payload)
        channel = self._channels.get(event["t"])
        if channel is None:
            return
        if "s" in event:
            channel.take(LoggedEvent(event["t"], event["s"], event["k"], event["d"], event["a"]))
            return
        for stream in tuple(channel.streams):
            stream.pass_on(event["k"], event["d"])

    def _on_control(self, payload: bytes) -> None:
        control = orjson.loads(payload)
        for stream in tuple(self._streams):
            if stream.caller.token_id == control.get("ended"):
                stream.close()
        if control.get("to") != self._name:
            for space in control.get("tell", ()):
                for spoken in tuple(self._spoken.get(space, {}).values()):
                    spoken.tell_again()

    def _passed(self, channel: Channel, event: LoggedEvent) -> None:
        """Membership moves streams: out of a space at once, and into a new one for those that follow all of them."""
        if event.type == "space.member.left":
            entity_id = orjson.loads(event.data)["entityId"]
            for stream in [s for s in channel.streams if s.caller.id == entity_id and channel.topic != entity_id]:
                if stream.space is None:
                    self._detach(stream, channel.topic)
                    self._spawn(self._follow_again(stream, channel.topic, event.seq))
                else:
                    stream.close()
        elif event.type == "space.member.joined":
            data = orjson.loads(event.data)
            if channel.topic == data["entityId"]:
                for stream in [s for s in channel.streams if s.space is None]:
                    self._spawn(self._follow(stream, data["spaceId"], data["eventSeq"]))

    async def _follow(self, stream: Stream, space_id: str, seq: int) -> None:
        if not stream.has_begun:
            # Nothing comes before `connected`; and the snapshot that it begins with may know the space already.
            stream.joining.append((space_id, seq))
            return
        if stream.closed or space_id in stream.position:
            return
        self._attach(stream, space_id)
        stream.position[space_id] = seq
        stream.moved_at[space_id] = clock.now()
        await self._catch_up(stream, [space_id])

    async def _follow_again(self, stream: Stream, space_id: str, seq: int) -> None:
        """Who left may have come back already, and that notice may have overtaken the leaving on the bus."""
        if await self._db.read(is_member, space_id, stream.caller.id):
            await self._follow(stream, space_id, seq)

    def _fill(self, channel: Channel) -> None:
        if channel.topic not in self._filling:
            self._filling.add(channel.topic)
            self._spawn(self._fill_hole(channel))

    async def _fill_hole(self, channel: Channel) -> None:
        """Read from the log what did not arrive. A log that was trimmed meanwhile makes the streams start afresh."""
        try:
            head = (await self._db.read(log.heads, [channel.topic])).get(channel.topic)
            last = channel.last
            if head is None or last is None or head <= last:
                return
            found = (
                [] if head - last > REPLAY_LIMIT else await self._db.read(log.read_events, channel.topic, last, head)
            )
            if len(found) == head - last:
                for event in found:
                    channel.take(event)
                return
            for stream in tuple(channel.streams):
                stream.position[channel.topic] = head
                stream.pass_on("resync", '{"type":"resync"}')
            channel.skip_to(head)
        finally:
            self._filling.discard(channel.topic)

    async def _poll_forever(self) -> None:
        polls = 0
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            polls += 1
            try:
                await self._poll()
                if polls % _LOOK_AT_TOKENS_EVERY == 0:
                    await self._end_invalid()
            except Exception as error:
                _logger.warning("the event log could not be polled; trying again", error=str(error))

    async def _poll(self) -> None:
        """Compare every channel with the log. On SQLite this costs nothing while no other process writes."""
        begun = clock.now()
        if await self._db.changed_elsewhere() and self._channels:
            heads = await self._db.read(log.heads, list(self._channels))
            for topic, head in heads.items():
                channel = self._channels.get(topic)
                if channel is not None and channel.last is not None and channel.last < head:
                    self._filling.add(topic)
                    await self._fill_hole(channel)
        self._verified_at = begun

    async def _end_invalid(self) -> None:
        """The hint that a token has ended may be lost; its stream ends all the same."""
        asked = {stream.caller.token_id for stream in self._streams}
        valid = await self._db.read(valid_tokens, asked) if asked else set()
        for stream in tuple(self._streams):
            if stream.caller.token_id in asked - valid and stream.caller.token_id.startswith("tok_"):
                stream.close()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _shard(topic: str) -> str:
    """Processes subscribe to the shards they need; one subscription for each of many thousand topics would cost."""
    return f"events.{crc32(topic.encode()) % _SHARDS}"


def _pack(event: LoggedEvent) -> bytes:
    return orjson.dumps({"t": event.topic, "s": event.seq, "k": event.type, "d": event.data, "a": event.at})
