"""The hub of one process: connects clients' streams with the event log and the bus.

Opening a stream subscribes first and reads the log second, so that no event is missed. Events reach a channel from this
process's own commits and from the bus. Gaps are filled from the log, which is also polled every second. Leaving a space
and the end of a token end the affected streams at once.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from secrets import token_hex
from typing import Any, Protocol

import orjson

from majlis import clock
from majlis.errors import TooMany
from majlis.live import log
from majlis.live.bus import Bus, Handler, Unsubscribe, shard_of
from majlis.live.channel import Channel
from majlis.live.channels import TYPING, Channels
from majlis.live.cursor import parse_gateway_cursor, parse_space_cursor
from majlis.live.log import LoggedEvent, Signal, TokenEnded
from majlis.live.presence import Presence
from majlis.live.replay import Start, is_member, start_gateway_stream, start_space_stream, valid_tokens
from majlis.live.stream import RESYNC, Listener, Stream
from majlis.outage import Outage
from majlis.store.transactions import Database

_POLL_SECONDS = 1.0
_CHECK_TOKENS_EVERY = 10
_TICK_SECONDS = 1.0
_HEARTBEAT_SECONDS = 10.0
_CONTROL = "control"
_MAX_REPEAT_SPACES = 1000

# Returns the data of the `connected` event.
ReadState = Callable[[], Awaitable[str]]


class TextInProgress(Protocol):
    """A message that an agent of this process is writing."""

    id: str
    space_id: str
    agent_id: str
    text: str

    def tell_again(self) -> None: ...


class Hub:
    def __init__(self, db: Database, bus: Bus, kept_millis: int, max_streams: int = 200) -> None:
        self._db = db
        self._bus = bus
        self._kept = kept_millis
        self._channels = Channels(db, bus, self._move_streams, self._spawn)
        # In the order in which they were opened; a set's order would differ from process to process.
        self._streams: dict[Stream, None] = {}
        self._max_streams = max_streams
        self._counts: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._verified_at = clock.now()
        self._stop_control: Unsubscribe | None = None
        self._name = token_hex(8)
        self._texts: dict[str, dict[str, TextInProgress]] = {}
        self.presence = Presence(db, bus, self._name, self._channels.by_topic)

    @property
    def open_streams(self) -> int:
        return len(self._streams)

    async def start(self) -> None:
        self._db.after_commit = self.publish
        self._stop_control = self._bus.subscribe(_CONTROL, self._on_control)
        self.presence.start()
        self._spawn(self._poll_forever())
        self._spawn(self._beat_forever())
        self._spawn(self._update_presence_forever())

    async def close(self) -> None:
        self.end_streams()
        self.presence.close()
        if self._stop_control is not None:
            self._stop_control()
        for task in tuple(self._tasks):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def end_streams(self) -> None:
        """For a graceful stop: clients reconnect to another process with their last event id."""
        for stream in tuple(self._streams):
            stream.close()

    def publish(self, outbox: Sequence[object]) -> None:
        """Sends the outbox of a committed transaction."""
        for item in outbox:
            if isinstance(item, LoggedEvent):
                shard = shard_of(item.topic)
                if self._bus.may_be_heard(shard):
                    self._bus.publish(shard, _pack(item))
            elif isinstance(item, TokenEnded):
                self._bus.publish(_CONTROL, orjson.dumps({"ended": item.token_id}))
            elif isinstance(item, Signal):
                self._bus.publish(item.subject, item.payload)

    def publish_ephemeral(self, topic: str, type: str, data: dict[str, Any]) -> None:
        """Sends an event that is not logged, to the clients that are connected now."""
        if self._bus.kind == "in-process" and topic not in self._channels.by_topic:
            return
        payload = {"t": topic, "k": type, "d": orjson.dumps({"type": type, **data}).decode()}
        self._bus.publish(shard_of(topic), orjson.dumps(payload))

    def tell_typing(self, space_id: str, entity_id: str) -> None:
        if self.presence.is_typing(space_id, entity_id):
            self.publish_ephemeral(space_id, TYPING, {"spaceId": space_id, "entityId": entity_id})

    def watch(self, topic: str, heard: Handler) -> Unsubscribe:
        """For hints inside this process: events of this topic, and of others in its shard, as the bus has them. Some
        may be missed."""
        return self._bus.subscribe(shard_of(topic), heard)

    def stream_began(self, text: TextInProgress) -> None:
        self._texts.setdefault(text.space_id, {})[text.id] = text

    def stream_ended(self, text: TextInProgress) -> None:
        texts = self._texts.get(text.space_id, {})
        texts.pop(text.id, None)
        if not texts:
            self._texts.pop(text.space_id, None)

    def texts_in_progress(self, space_ids: Iterable[str]) -> list[dict[str, str]]:
        """The texts of this process. Asks the other processes to publish theirs again."""
        wanted = list(space_ids)
        if self._bus.kind != "in-process" and wanted:
            self._bus.publish(_CONTROL, orjson.dumps({"tell": wanted[:_MAX_REPEAT_SPACES], "to": self._name}))
        return [
            {"streamId": text.id, "text": text.text, "spaceId": space, "agentId": text.agent_id}
            for space in wanted
            for text in self._texts.get(space, {}).values()
        ]

    async def open_space(self, caller: Listener, space_id: str, last_id: str | None, state: ReadState) -> Stream | None:
        """None if the caller may not follow this space. `state` is called after the stream has subscribed, so that
        later changes arrive as events."""
        cursor = parse_space_cursor(last_id, space_id) if last_id else None
        stream = self._count(Stream(caller, space_id, lambda: self._verified_at))
        start = self._db.snapshot(start_space_stream, caller, space_id, cursor, last_id is not None)
        return await self._open(stream, [space_id, caller.id], start, state)

    async def open_gateway(
        self, caller: Listener, last_id: str | None, state: ReadState, presence: bool = False
    ) -> Stream | None:
        cursor = parse_gateway_cursor(last_id, caller.id) if last_id else None
        stream = self._count(Stream(caller, None, lambda: self._verified_at, presence))
        start = self._db.snapshot(start_gateway_stream, caller, cursor, last_id is not None, self._kept)
        return await self._open(stream, [caller.id], start, state)

    def leave(self, stream: Stream) -> None:
        """The client has disconnected."""
        stream.close()
        if stream in self._streams:
            del self._streams[stream]
            self.presence.leave(stream)
            self._counts[stream.caller.id] -= 1
            if not self._counts[stream.caller.id]:
                del self._counts[stream.caller.id]
        for topic in [*stream.position, *stream.held]:
            self._channels.detach(stream, topic)

    async def _open(
        self, stream: Stream, topics: list[str], start: Awaitable[Start | None], state: ReadState
    ) -> Stream | None:
        for topic in topics:
            self._channels.attach(stream, topic)
        try:
            begin = await start
            if begin is None:
                self.leave(stream)
                return None
            # Subscribe to the spaces of the snapshot; `_catch_up` reads what they have published meanwhile.
            for topic in begin.heads.keys() - set(topics):
                self._channels.attach(stream, topic)
            self._begin(stream, begin, await state())
            await self._catch_up(stream, list(begin.heads))
            while stream.joining:
                await self._follow(stream, *stream.joining.pop(0))
        except BaseException:
            self.leave(stream)
            raise
        return stream

    def _count(self, stream: Stream) -> Stream:
        if self._counts[stream.caller.id] >= self._max_streams:
            raise TooMany(
                "too_many_streams",
                f"You have {self._max_streams} open live streams, which is the limit. Close some and try again.",
                retry_after=10,
            )
        self._streams[stream] = None
        self._counts[stream.caller.id] += 1
        self.presence.enter(stream)
        return stream

    def _begin(self, stream: Stream, begin: Start, state: str) -> None:
        # The caller may have left a space since the snapshot; `held` no longer contains it.
        held, stream.held = stream.held, {}
        stream.position.update({topic: seq for topic, seq in begin.positions.items() if topic in held})
        stream.moved_at.update({topic: at for topic, at in (begin.moved_at or {}).items() if topic in held})
        stream.send("connected", state)
        if begin.resync:
            stream.send(*RESYNC)
        stream.replay([event for event in begin.missed if event.topic in held])
        stream.begun()
        stream.held = held
        for topic in begin.heads.keys() & held.keys():
            channel = self._channels.by_topic[topic]
            self._channels.pass_on(channel, channel.start_at(begin.heads[topic]))

    async def _catch_up(self, stream: Stream, topics: list[str]) -> None:
        """Brings the stream to the position of its channels."""
        heads = await self._db.read(log.heads, topics)
        for topic in topics:
            channel = self._channels.by_topic.get(topic)
            # The caller may have left the space meanwhile.
            if channel is None or stream.closed or topic not in stream.held:
                continue
            self._channels.pass_on(channel, channel.start_at(stream.position.get(topic, 0)))
            target = max(heads.get(topic, 0), channel.last or 0)
            if stream.position.get(topic, 0) < target:
                await self._read_missing(stream, topic, target)
            if topic in heads and (channel.last or 0) < heads[topic]:
                self._channels.fill(channel)
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
            stream.send(*RESYNC)
        stream.held[topic] = held

    def _on_control(self, payload: bytes) -> None:
        control = orjson.loads(payload)
        for stream in tuple(self._streams):
            if stream.caller.token_id == control.get("ended"):
                stream.close()
        if control.get("to") != self._name:
            for space in control.get("tell", ()):
                for text in tuple(self._texts.get(space, {}).values()):
                    text.tell_again()

    def _move_streams(self, channel: Channel, event: LoggedEvent) -> None:
        """A member that left stops following the space at once; streams over all spaces follow a joined space."""
        data = orjson.loads(event.data)
        own_notice = channel.topic == data["entityId"]
        if event.type == "space.member.joined":
            self.presence.moved(data["entityId"])
        for stream in tuple(channel.streams):
            if event.type == "space.member.joined":
                if own_notice and stream.space is None:
                    self._spawn(self._follow(stream, data["spaceId"], data["eventSeq"]))
            elif stream.caller.id == data["entityId"] and not own_notice:
                if stream.space is None:
                    self._channels.detach(stream, channel.topic)
                    self._spawn(self._follow_again(stream, channel.topic, event.seq))
                else:
                    stream.close()

    async def _follow(self, stream: Stream, space_id: str, seq: int) -> None:
        if not stream.has_begun:
            # `connected` comes first, and the stream's snapshot may already contain the space.
            stream.joining.append((space_id, seq))
            return
        if stream.closed or space_id in stream.position:
            return
        self._channels.attach(stream, space_id)
        stream.position[space_id] = seq
        stream.moved_at[space_id] = clock.now()
        await self._catch_up(stream, [space_id])
        self.presence.moved(stream.caller.id)

    async def _follow_again(self, stream: Stream, space_id: str, seq: int) -> None:
        """The entity may have joined again, and that notice may have arrived before the one about leaving."""
        if await self._db.read(is_member, space_id, stream.caller.id):
            await self._follow(stream, space_id, seq)

    async def _poll_forever(self) -> None:
        polls, outage = 0, Outage("polling the event log")
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            polls += 1
            with outage.noted():
                await self._poll()
                if polls % _CHECK_TOKENS_EVERY == 0:
                    await self._end_invalid()

    async def _poll(self) -> None:
        """Compares every channel with the log. On SQLite this costs nothing unless another process has written."""
        begun = clock.now()
        if await self._db.changed_elsewhere() and self._channels.by_topic:
            await self._channels.compare(await self._db.read(log.heads, list(self._channels.by_topic)))
        self._verified_at = begun

    async def _end_invalid(self) -> None:
        """Ends streams of ended tokens whose control message was lost."""
        asked = {stream.caller.token_id for stream in self._streams}
        valid = await self._db.read(valid_tokens, asked) if asked else set()
        for stream in tuple(self._streams):
            if stream.caller.token_id in asked - valid and stream.caller.token_id.startswith("tok_"):
                stream.close()

    async def _beat_forever(self) -> None:
        """Sends heartbeats and ends streams of expired tokens. Apart from polling: a slow database must not silence
        streams."""
        loop = asyncio.get_running_loop()
        beaten_at = loop.time()
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            now = clock.now()
            beat = loop.time() - beaten_at >= _HEARTBEAT_SECONDS
            if beat:
                beaten_at = loop.time()
            for stream in tuple(self._streams):
                if stream.caller.expires_at is not None and stream.caller.expires_at <= now:
                    stream.close()
                elif beat:
                    stream.beat()

    async def _update_presence_forever(self) -> None:
        outage = Outage("telling who is online")
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            with outage.noted():
                await self.presence.update()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _pack(event: LoggedEvent) -> bytes:
    return orjson.dumps({"t": event.topic, "s": event.seq, "k": event.type, "d": event.data, "a": event.at})
