"""Which people have the app open, on any process, and which of them are typing. Only the time at which a person last
opened or closed it is stored, for administrators.

Only streams that ask for presence count and are told. A process tells the others whom it serves: when that changes, and
every few seconds. People of a process that has gone silent are offline after a while.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

import orjson
import sqlalchemy as sa

from majlis.live.bus import Bus, Unsubscribe
from majlis.live.channel import Channel
from majlis.live.stream import Stream
from majlis.store.tables import entities, members
from majlis.store.transactions import Database, Tx

_SUBJECT = "presence"
# A person stays online while the page reloads or reconnects.
_GRACE_SECONDS = 4.0
_REPEAT_SECONDS = 10.0
_SILENT_SECONDS = 35.0
_TYPING_EVERY_SECONDS = 2.0
_SWEEP_AT = 10_000
_AT_ONCE = 500


class Presence:
    def __init__(self, db: Database, bus: Bus, name: str, channels: Mapping[str, Channel]) -> None:
        self._db = db
        self._bus = bus
        self._name = name
        self._channels = channels
        self._streams: Counter[str] = Counter()
        self._left_at: dict[str, float] = {}
        # By process: its people, and when it last told of them.
        self._elsewhere: dict[str, tuple[frozenset[str], float]] = {}
        self._online: frozenset[str] = frozenset()
        # People and streams whose spaces have changed.
        self._joined: set[str] = set()
        self._told: tuple[frozenset[str], float] = (frozenset(), 0.0)
        # People who came or left since the last update.
        self._moved: set[str] = set()
        self._typed_at: dict[tuple[str, str], float] = {}
        self._unsubscribe: Unsubscribe | None = None

    def start(self) -> None:
        self._unsubscribe = self._bus.subscribe(_SUBJECT, self._hear)

    def close(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()
        if self._told[0]:
            self._tell(frozenset())

    def enter(self, stream: Stream) -> None:
        if stream.presence:
            self._streams[stream.caller.id] += 1
            self._moved.add(stream.caller.id)

    def leave(self, stream: Stream) -> None:
        if not stream.presence:
            return
        who = stream.caller.id
        self._streams[who] -= 1
        if not self._streams[who]:
            del self._streams[who]
            self._left_at[who] = time.monotonic()
            self._moved.add(who)

    def moved(self, entity_id: str) -> None:
        """The entity joined a space: its members and it see each other from now on."""
        self._joined.add(entity_id)

    def is_typing(self, space_id: str, entity_id: str) -> bool:
        """False if the members of the space were told a moment ago."""
        now = time.monotonic()
        if now - self._typed_at.get((space_id, entity_id), -_TYPING_EVERY_SECONDS) < _TYPING_EVERY_SECONDS:
            return False
        self._typed_at[space_id, entity_id] = now
        if len(self._typed_at) > _SWEEP_AT:
            self._typed_at = {key: at for key, at in self._typed_at.items() if now - at < _TYPING_EVERY_SECONDS}
        return True

    async def online_for(self, entity_id: str) -> list[str]:
        """The online people with whom the entity shares a space."""
        return sorted(await self._db.read(_visible, entity_id, self._present() - {entity_id}))

    async def update(self) -> None:
        """Called every second: tells the streams what has changed."""
        now = time.monotonic()
        self._left_at = {who: at for who, at in self._left_at.items() if now - at < _GRACE_SECONDS}
        here = self._here()
        told, told_at = self._told
        if self._bus.kind != "in-process" and (here != told or (here and now - told_at >= _REPEAT_SECONDS)):
            self._tell(here)
        self._elsewhere = {name: told for name, told in self._elsewhere.items() if now - told[1] < _SILENT_SECONDS}
        before, self._online = self._online, self._present()
        # Nothing is sent about people who are offline.
        joined, self._joined = self._joined & self._online, set()
        changed = (before ^ self._online) | joined
        if changed and self._streams:
            await self._pass_on(changed, joined)
        if moved := frozenset(self._moved):
            await self._db.write(_mark_seen, moved)
            self._moved -= moved

    def _here(self) -> frozenset[str]:
        return frozenset(self._streams) | frozenset(self._left_at)

    def _present(self) -> frozenset[str]:
        return self._here().union(*(people for people, _ in self._elsewhere.values()))

    async def _pass_on(self, changed: Iterable[str], joined: set[str]) -> None:
        concerned: dict[Stream, set[str]] = defaultdict(set)
        # What they see in the new space is among this.
        seen = {who: await self._db.read(_visible, who, self._online) for who in joined & self._streams.keys()}
        for space_id, people in (await self._db.read(_spaces_of, changed)).items():
            for stream in self._listening(space_id):
                concerned[stream] |= people | seen.get(stream.caller.id, set())
        for stream, people in concerned.items():
            others = people - {stream.caller.id}
            if others:
                news = {"online": sorted(others & self._online), "offline": sorted(others - self._online)}
                stream.pass_on("presence", orjson.dumps({"type": "presence", **news}).decode())

    def _listening(self, space_id: str) -> list[Stream]:
        channel = self._channels.get(space_id)
        return [stream for stream in channel.streams if stream.presence] if channel is not None else []

    def _tell(self, people: frozenset[str]) -> None:
        self._told = people, time.monotonic()
        self._bus.publish(_SUBJECT, orjson.dumps({"from": self._name, "people": sorted(people)}))

    def _hear(self, payload: bytes) -> None:
        told = orjson.loads(payload)
        if told["from"] != self._name:
            self._elsewhere[told["from"]] = frozenset(told["people"]), time.monotonic()


def _mark_seen(tx: Tx, people: Iterable[str]) -> None:
    for some in _in_parts(sorted(people)):
        which = entities.c.id.in_(some)
        # In the order of ids, like all code that locks several entities.
        tx.execute(sa.select(entities.c.id).where(which).order_by(entities.c.id).with_for_update())
        tx.execute(entities.update().where(which).values(seen_at=tx.now))


def _spaces_of(tx: Tx, people: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for some in _in_parts(people):
        for row in tx.all(sa.select(members.c.space_id, members.c.entity_id).where(members.c.entity_id.in_(some))):
            found[row.space_id].add(row.entity_id)
    return found


def _visible(tx: Tx, entity_id: str, people: Iterable[str]) -> set[str]:
    """The people with whom the entity shares a space."""
    found: set[str] = set()
    mine = sa.select(members.c.space_id).where(members.c.entity_id == entity_id)
    for some in _in_parts(people):
        shared = sa.select(members.c.entity_id).where(members.c.entity_id.in_(some), members.c.space_id.in_(mine))
        found |= {row.entity_id for row in tx.all(shared.distinct())}
    return found


def _in_parts(people: Iterable[str]) -> Iterator[list[str]]:
    everyone = list(people)
    for start in range(0, len(everyone), _AT_ONCE):
        yield everyone[start : start + _AT_ONCE]
